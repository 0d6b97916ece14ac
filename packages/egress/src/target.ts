/** The pure half of the guard: everything about a URL that can be judged without asking a resolver. */
import { isIP } from 'node:net';
import { classifyAddress } from './address.ts';
import { type AllowEntry, isOrdinary, opensAddress, opensName, opensPort } from './allow-entry.ts';
import { type EgressProblem, type EgressReason, egressProblem } from './error.ts';
import { classifyHostName, plainHostName } from './host-name.ts';
import { DEFAULT_TENANT, type EgressPolicy } from './policy.ts';
import { isOfOtherProtocol, portOf } from './port.ts';

const URL_LENGTH_MAX = 8192;

/** A host that may be resolved, or connected to if it is an address. */
export interface TargetHost {
  /** Name without trailing dot, or address without brackets. */
  readonly host: string;
  /** The operator named this host, so the search rules of the machine may complete it. */
  readonly isNamed: boolean;
  /** Undefined for an address that may be connected to. */
  problemOf(address: string): EgressProblem | undefined;
}

export interface Target extends TargetHost {
  readonly url: URL;
  readonly port: number;
}

export type Judgement<T> =
  | { readonly allowed: true; readonly target: T }
  | { readonly allowed: false; readonly problem: EgressProblem };

const refused = (reason: EgressReason, happened: string, entry?: string) =>
  ({ allowed: false, problem: egressProblem(reason, happened, entry) }) as const;

// The URL parser drops tabs and line breaks and turns backslashes into slashes; other parsers, through which
// this text may have come, do not. What two parsers could read differently is refused.
const isAmbiguous = (text: string): boolean => /[\p{Cc}\\]/u.test(text) || text.trim() !== text;

/** An empty `@` too: the parser forgets it, readers do not. */
const hasUserInfo = (text: string): boolean => /^https?:\/*[^/?#]*@/i.test(text);

const isPublic = (address: string): boolean => classifyAddress(address).kind === 'public';

const ofTenant = ({ allow }: EgressPolicy, tenant: string): AllowEntry[] =>
  allow.filter((entry) => entry.tenant === undefined || entry.tenant === tenant);

interface Host {
  readonly host: string;
  /** Public addresses are open without an entry. */
  readonly isOpen: boolean;
  readonly entries: readonly AllowEntry[];
  /** The entry that would allow the call. */
  readonly missing?: string | undefined;
}

/** Addresses behind a name are judged when they are known; a metadata service is never looked up. */
function judgeHost({ host, isOpen, entries, missing }: Host): Judgement<TargetHost> {
  const isAddress = isIP(host) !== 0;
  const permits = (address: string): boolean =>
    (isOpen && isPublic(address)) || entries.some((entry) => opensAddress(entry, host, address));
  if (isAddress && !permits(host))
    return refused('address_not_allowed', 'The address in the URL may not be called.', missing);
  const isNamed = entries.some((entry) => opensName(entry, host));
  const kind = isAddress ? undefined : classifyHostName(host);
  const mayLieInRange = kind !== 'metadata' && entries.some((entry) => entry.host.kind === 'range');
  if (!isAddress && !isNamed && !mayLieInRange && !(isOpen && kind === 'public'))
    return refused('host_not_allowed', `The host ${host} may not be called.`, missing);
  const problemOf = (address: string): EgressProblem | undefined => {
    if (permits(address)) return undefined;
    const happened = `The host ${host} has an address that may not be called.`;
    return egressProblem('address_not_allowed', happened, isOrdinary(address) ? missing : undefined);
  };
  return { allowed: true, target: { host, isNamed, problemOf } };
}

/** A name alone, as in a URL: without trailing dot, in small letters. What some URL could reach is allowed. */
export function judgeName(
  text: string,
  policy: EgressPolicy,
  tenant = DEFAULT_TENANT,
): Judgement<TargetHost> {
  const host = isIP(text) ? text : plainHostName(text.toLowerCase());
  if (host === undefined) return refused('url_invalid', 'This is not a host name.');
  return judgeHost({ host, isOpen: true, entries: ofTenant(policy, tenant) });
}

const hostOf = ({ hostname }: URL): string | undefined =>
  hostname.startsWith('[') ? hostname.slice(1, -1) : plainHostName(hostname);

function entryFor({ purpose }: EgressPolicy, tenant: string, url: URL, host = ''): string | undefined {
  if (purpose === undefined || host === '' || classifyHostName(host) === 'metadata') return undefined;
  const forTenant = tenant === DEFAULT_TENANT ? '' : `@${tenant}`;
  return `${purpose}${forTenant}=${url.protocol}//${host.includes(':') ? `[${host}]` : host}:${portOf(url)}`;
}

export function judgeUrl(text: string, policy: EgressPolicy, tenant = DEFAULT_TENANT): Judgement<Target> {
  const url = text.length > URL_LENGTH_MAX || isAmbiguous(text) ? null : URL.parse(text);
  if (url === null) return refused('url_invalid', 'The URL cannot be read.');
  const isHttps = url.protocol === 'https:';
  const host = hostOf(url);
  const missing = entryFor(policy, tenant, url, host);
  const ofScheme = ofTenant(policy, tenant).filter(({ scheme }) => url.protocol === `${scheme}:`);
  if (!isHttps && ofScheme.length === 0)
    return refused(
      'scheme_not_allowed',
      'The scheme of the URL is not allowed.',
      url.protocol === 'http:' ? missing : undefined,
    );
  if (hasUserInfo(text)) return refused('credentials_in_url', 'The URL holds credentials.');
  if (host === undefined) return refused('url_invalid', 'The host of the URL is not a host name.');
  const port = portOf(url);
  const isOpenPort = isHttps && !isOfOtherProtocol(port);
  const entries = ofScheme.filter((entry) => opensPort(entry, port));
  if (!isOpenPort && entries.length === 0)
    return refused('port_not_allowed', `Port ${port} is closed.`, missing);
  const judgement = judgeHost({ host, isOpen: isOpenPort, entries, missing });
  if (!judgement.allowed) return judgement;
  url.hash = '';
  return { allowed: true, target: { ...judgement.target, url, port } };
}
