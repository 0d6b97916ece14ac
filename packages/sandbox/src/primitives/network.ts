/** `fetch` and `dns` of pack code, done by the host through egress. */
import { isIP } from 'node:net';
import { callerHeaders, type Egress, EgressError, type EgressTerms } from '@gantry/egress';
import type { Data } from '../invocation.ts';
import { ErrorForPack, isObject } from '../result.ts';

const REDIRECTS_MAX = 5;
const NAME_MAX = 253;

const redirectsOf = (mode: unknown): number => (mode === undefined || mode === 'follow' ? REDIRECTS_MAX : 0);

export async function guardedFetch(egress: Egress, args: readonly Data[], terms: EgressTerms): Promise<Data> {
  const [url, request] = args;
  const init = isObject(request) ? request : {};
  const { status, headers, body, ...rest } = await egress.request(String(url), {
    method: typeof init.method === 'string' ? init.method.toUpperCase() : 'GET',
    headers: callerHeaders(isObject(init.headers) ? Object.entries(init.headers) : []),
    ...((init.body instanceof Uint8Array || typeof init.body === 'string') && { body: init.body }),
    redirects: redirectsOf(init.redirect),
    ...terms,
  });
  const pairs = [...headers].map(([name, value]) => [name, value]);
  return { status, headers: pairs, body, url: rest.url, redirected: rest.redirected };
}

/** Answers only addresses that `fetch` could reach. */
export async function guardedLookup(
  egress: Pick<Egress, 'addresses'>,
  args: readonly Data[],
  terms: EgressTerms,
): Promise<Data> {
  const name = String(args[0]);
  if (name.length > NAME_MAX)
    throw new ErrorForPack('ENOTFOUND', `The name is too long: it may have ${NAME_MAX} characters.`);
  try {
    const addresses = await egress.addresses(name, terms);
    return addresses.map((address) => ({ address, family: isIP(address) }));
  } catch (error) {
    if (!(error instanceof EgressError) || error.reason !== 'resolve_failed') throw error;
    // Only the code of the resolver, as in `dns` of Node
    const { code = 'ENOTFOUND' } = error;
    throw new ErrorForPack(code, `getaddrinfo ${code} ${name}`);
  }
}
