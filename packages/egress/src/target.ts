/** The pure part of the guard: all checks of a URL that need no resolver. */
import { isIP } from 'node:net';
import { classifyAddress } from './address.ts';
import {
  type AllowEntry,
  isOfOtherProtocol,
  isOrdinary,
  opensAddress,
  opensName,
  opensPort,
  opensUnnamed,
  type Scheme,
  USUAL_PORT,
} from './allow-entry.ts';
import { type EgressProblem, type EgressReason, egressProblem } from './error.ts';
import { classifyHostName, plainHostName } from './host-name.ts';
import { DEFAULT_TENANT, type EgressPolicy } from './policy.ts';

const URL_LENGTH_MAX = 8192;

/** A host that may be resolved, or connected to if it is an address. */
export interface TargetHost {
  /** Name without trailing dot, or address without brackets. */
  readonly host: string;
  /** The operator configured this host, so the search rules of the machine may complete it. */
  readonly isNamed: boolean;
  /** Undefined if the address may be connected to. */
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

// The URL parser drops tabs and line breaks and turns backslashes into slashes; other parsers, which may have
// handled this text before, do not. Texts that two parsers could read differently are refused.
const isAmbiguous = (text: string): boolean => /[\p{Cc}\\]/u.test(text) || text.trim() !== text;

/** Includes an empty `@`: the parser drops it, other readers do not. */
const hasUserInfo = (text: string): boolean => /^https?:\/*[^/?#]*@/i.test(text);

const isPublic = (address: string): boolean => classifyAddress(address).kind === 'public';

const ofTenant = ({ allow }: EgressPolicy, tenant: string): AllowEntry[] =>
  allow.filter((entry) => entry.tenant === undefined || entry.tenant === tenant);

interface Host {
  readonly host: string;
  /** Public addresses need no entry. */
  readonly isOpen: boolean;
  readonly entries: readonly AllowEntry[];
  /** The entry that would allow the call. */
  readonly missing?: string | undefined;
}

/** Addresses behind a name are checked once they are known; a metadata service is never looked up. */
function judgeHost({ host, isOpen, entries, missing }: Host): Judgement<TargetHost> {
  const isAddress = isIP(host) !== 0;
  const permits = (address: string): boolean =>
    (isOpen && isPublic(address)) || entries.some((entry) => opensAddress(entry, host, address));
  if (isAddress && !permits(host))
    return refused('address_not_allowed', 'The address in the URL may not be called.', missing);
  const isNamed = entries.some((entry) => opensName(entry, host));
  const kind = isAddress ? undefined : classifyHostName(host);
  const mayLieInRange = kind !== 'metadata' && entries.some(opensUnnamed);
  if (!isAddress && !isNamed && !mayLieInRange && !(isOpen && kind === 'public'))
    return refused('host_not_allowed', `The host ${host} may not be called.`, missing);
  const problemOf = (address: string): EgressProblem | undefined => {
    if (permits(address)) return undefined;
    const happened = `The host ${host} has an address that may not be called.`;
    return egressProblem('address_not_allowed', happened, isOrdinary(address) ? missing : undefined);
  };
  return { allowed: true, target: { host, isNamed, problemOf } };
}

/** Checks a name alone, as in a URL: lower case, without trailing dot. Allowed if some URL could reach it. */
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

const portOf = ({ port }: URL, scheme: Scheme): number => (port === '' ? USUAL_PORT[scheme] : Number(port));

/** The parts of a URL to check. */
interface Asked {
  readonly text: string;
  /** Parsed as a web address, whatever its scheme. */
  readonly url: URL;
  readonly scheme: string;
  readonly port: number;
  /** Public addresses need no entry. */
  readonly isOpen: boolean;
}

function entryFor({ purpose }: EgressPolicy, tenant: string, { scheme, port }: Asked, host = '') {
  if (purpose === undefined || host === '' || classifyHostName(host) === 'metadata') return undefined;
  const forTenant = tenant === DEFAULT_TENANT ? '' : `@${tenant}`;
  return `${purpose}${forTenant}=${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

export function judgeUrl(text: string, policy: EgressPolicy, tenant = DEFAULT_TENANT): Judgement<Target> {
  const url = text.length > URL_LENGTH_MAX || isAmbiguous(text) ? null : URL.parse(text);
  if (url === null) return refused('url_invalid', 'The URL cannot be read.');
  const scheme = url.protocol.slice(0, -1);
  const isOpen = scheme === 'https';
  const isWeb = isOpen || scheme === 'http';
  const asked = { text, url, scheme, port: portOf(url, isOpen ? 'https' : 'http'), isOpen };
  if (!isWeb || (!isOpen && entriesFor(policy, tenant, asked).length === 0))
    return refused(
      'scheme_not_allowed',
      'The scheme of the URL is not allowed.',
      isWeb ? entryFor(policy, tenant, asked, hostOf(url)) : undefined,
    );
  return judgeAsked({ ...asked, isOpen: isOpen && !isOfOtherProtocol(asked.port) }, policy, tenant);
}

const JUDGED_MAX = 500;

/** Caches allowed URLs: the same ones recur often, and a check costs microseconds. */
export function urlJudge(policy: EgressPolicy): (text: string, tenant: string) => Judgement<Target> {
  const judged = new Map<string, Judgement<Target>>();
  return (text, tenant) => {
    const key = `${tenant} ${text}`;
    const known = judged.get(key);
    if (known) return known;
    const judgement = judgeUrl(text, policy, tenant);
    if (judged.size >= JUDGED_MAX) judged.clear();
    if (judgement.allowed) judged.set(key, judgement);
    return judgement;
  };
}

export interface MailTerms {
  /** Without encryption: such servers are only called if an entry names them. */
  readonly plain?: boolean;
}

/** `smtps://mail.example.com`, or `smtp://mail.example.com` for STARTTLS: open on the standard submission ports. */
export function judgeMailServer(
  text: string,
  { plain = false }: MailTerms,
  policy: EgressPolicy,
  tenant = DEFAULT_TENANT,
): Judgement<Target> {
  const [, scheme = '', server = ''] = /^(smtps?):\/\/([^/?#]{1,300})\/?$/.exec(text) ?? [];
  // The parser keeps hosts of other schemes as written: `127.1` would be a name.
  const url = isAmbiguous(text) || server === '' ? null : URL.parse(`http://${server}`);
  if (url === null) return refused('url_invalid', MAIL_FORM);
  if (server.includes('@')) return refused('credentials_in_url', 'The URL holds credentials.');
  const kind = scheme === 'smtps' ? 'smtps' : 'smtp';
  const port = portOf(url, kind);
  const isOpen = !plain && port === USUAL_PORT[kind];
  return judgeAsked({ text, url, scheme, port, isOpen }, policy, tenant);
}

const MAIL_FORM =
  'The URL of a mail server looks like smtps://mail.example.com or smtp://mail.example.com:587.';

const entriesFor = (policy: EgressPolicy, tenant: string, { scheme }: Asked): AllowEntry[] =>
  ofTenant(policy, tenant).filter((entry) => entry.scheme === scheme);

function judgeAsked(asked: Asked, policy: EgressPolicy, tenant: string): Judgement<Target> {
  const { text, url, port, isOpen } = asked;
  const host = hostOf(url);
  const missing = entryFor(policy, tenant, asked, host);
  if (hasUserInfo(text)) return refused('credentials_in_url', 'The URL holds credentials.');
  if (host === undefined) return refused('url_invalid', 'The host of the URL is not a host name.');
  const entries = entriesFor(policy, tenant, asked).filter((entry) => opensPort(entry, port));
  if (!isOpen && entries.length === 0) return refused('port_not_allowed', `Port ${port} is closed.`, missing);
  const judgement = judgeHost({ host, isOpen, entries, missing });
  if (!judgement.allowed) return judgement;
  url.hash = '';
  return { allowed: true, target: { ...judgement.target, url, port } };
}
