/** The pure half of the guard: everything about a URL that can be judged without asking a resolver. */
import { isIP } from 'node:net';
import { classifyAddress } from './address.ts';
import { type EgressProblem, egressProblem } from './error.ts';
import { classifyHostName, plainHostName } from './host-name.ts';
import { allowsAddress, type EgressPolicy } from './policy.ts';
import { allowsPort, portOf } from './port.ts';

const URL_LENGTH_MAX = 8192;

/** A URL whose host may be resolved, or connected to if it is an address. */
export interface Target {
  readonly url: URL;
  /** Name without trailing dot, or address without brackets. */
  readonly host: string;
  readonly port: number;
}

export type Judgement =
  | { readonly allowed: true; readonly target: Target }
  | { readonly allowed: false; readonly problem: EgressProblem };

const refused = (problem: EgressProblem): Judgement => ({ allowed: false, problem });

// The URL parser drops tabs and line breaks and turns backslashes into slashes; other parsers, through which
// this text may have come, do not. What two parsers could read differently is refused.
const isAmbiguous = (text: string): boolean => /[\p{Cc}\\]/u.test(text) || text.trim() !== text;

/** An empty `@` too: the parser forgets it, readers do not. */
const hasUserInfo = (text: string): boolean => /^https?:\/*[^/?#]*@/i.test(text);

function hostProblem(host: string, policy: EgressPolicy): EgressProblem | undefined {
  if (isIP(host)) {
    if (allowsAddress(policy, classifyAddress(host).kind)) return undefined;
    return egressProblem('address_not_allowed', 'The address in the URL may not be called.');
  }
  if (allowsAddress(policy, classifyHostName(host))) return undefined;
  return egressProblem('host_not_allowed', `The host ${host} may not be called.`);
}

/** A name alone, as in a URL: without trailing dot, in small letters. */
export function judgeName(text: string, policy: EgressPolicy): string | EgressProblem {
  const host = isIP(text) ? text : plainHostName(text.toLowerCase());
  if (host === undefined) return egressProblem('url_invalid', 'This is not a host name.');
  return hostProblem(host, policy) ?? host;
}

const hostOf = ({ hostname }: URL): string | undefined =>
  hostname.startsWith('[') ? hostname.slice(1, -1) : plainHostName(hostname);

export function judgeUrl(text: string, policy: EgressPolicy): Judgement {
  const url = text.length > URL_LENGTH_MAX || isAmbiguous(text) ? null : URL.parse(text);
  if (url === null) return refused(egressProblem('url_invalid', 'The URL cannot be read.'));
  if (!policy.schemes.some((scheme) => url.protocol === `${scheme}:`))
    return refused(egressProblem('scheme_not_allowed', 'The scheme of the URL is not allowed.'));
  if (hasUserInfo(text)) return refused(egressProblem('credentials_in_url', 'The URL holds credentials.'));
  const host = hostOf(url);
  if (host === undefined)
    return refused(egressProblem('url_invalid', 'The host of the URL is not a host name.'));
  const problem = hostProblem(host, policy);
  if (problem) return refused(problem);
  const port = portOf(url);
  if (!allowsPort(policy, port)) return refused(egressProblem('port_not_allowed', `Port ${port} is closed.`));
  url.hash = '';
  return { allowed: true, target: { url, host, port } };
}
