/** Applies a redirect as the Fetch standard defines it. The new URL is then checked like the first. */
import { type EgressProblem, egressProblem } from './error.ts';
import type { Outgoing } from './outgoing.ts';
import type { Head } from './reception.ts';

export interface Redirect {
  readonly status: number;
  readonly location: string;
}

export type Followed =
  | { readonly allowed: true; readonly url: string; readonly outgoing: Outgoing }
  | { readonly allowed: false; readonly problem: EgressProblem };

const STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const CREDENTIALS = ['authorization', 'cookie'] as const;

export function redirectOf(head: Head): Redirect | undefined {
  const { status } = head;
  const location = STATUSES.has(status) ? head.headers.get('location') : null;
  return location === null ? undefined : { status, location };
}

const without = (headers: Outgoing['headers'], drop: (name: string) => boolean): Outgoing['headers'] =>
  new Map([...headers].filter(([name]) => !drop(name)));

const becomesGet = (status: number, method: string): boolean =>
  status === 303 ? method !== 'HEAD' : status < 303 && method === 'POST';

export function follow(
  from: URL,
  sent: Outgoing,
  redirect: Redirect,
  sensitiveHeaders: readonly string[],
): Followed {
  const to = URL.parse(redirect.location, from);
  if (to === null || (from.protocol === 'https:' && to.protocol !== 'https:')) {
    const happened = 'The server redirects to a URL that cannot be read or is not secure.';
    return { allowed: false, problem: egressProblem('redirect_not_allowed', happened) };
  }
  let { method, headers, body } = sent;
  if (to.origin !== from.origin) {
    const sensitive = new Set([...CREDENTIALS, ...sensitiveHeaders.map((name) => name.toLowerCase())]);
    headers = without(headers, (name) => sensitive.has(name));
  }
  if (becomesGet(redirect.status, method)) {
    method = 'GET';
    body = undefined;
    headers = without(headers, (name) => name.startsWith('content-'));
  }
  return { allowed: true, url: to.href, outgoing: { method, headers, body } };
}
