/** `fetch` and `dns` of pack code, done by the host through egress. */
import { isIP } from 'node:net';
import type { Egress, Lookup } from '@gantry/egress';
import { ErrorForPack } from '../error-for-pack.ts';
import type { Data } from '../invocation.ts';
import { isObject } from '../result.ts';

const REDIRECTS_MAX = 5;
/** Set by egress itself; what a pack says about them is left out rather than refused. */
const NOT_OURS: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'host',
  'keep-alive',
]);
const NAME_MAX = 253;

function headersOf(given: unknown): Record<string, string> {
  if (!isObject(given)) return {};
  const pairs = Object.entries(given).filter(([name]) => !NOT_OURS.has(name.toLowerCase()));
  return Object.fromEntries(pairs.map(([name, value]) => [name, String(value)]));
}

const redirectsOf = (mode: unknown): number => (mode === undefined || mode === 'follow' ? REDIRECTS_MAX : 0);

export async function guardedFetch(
  egress: Egress,
  args: readonly Data[],
  signal: AbortSignal,
): Promise<Data> {
  const [url, request] = args;
  const init = isObject(request) ? request : {};
  const { status, headers, body, ...rest } = await egress.request(String(url), {
    method: typeof init.method === 'string' ? init.method.toUpperCase() : 'GET',
    headers: headersOf(init.headers),
    ...((init.body instanceof Uint8Array || typeof init.body === 'string') && { body: init.body }),
    redirects: redirectsOf(init.redirect),
    signal,
  });
  const pairs = [...headers].map(([name, value]) => [name, value]);
  return { status, headers: pairs, body, url: rest.url, redirected: rest.redirected };
}

export async function guardedLookup(lookup: Lookup, args: readonly Data[]): Promise<Data> {
  const name = String(args[0]);
  if (name.length > NAME_MAX)
    throw new ErrorForPack('ENOTFOUND', `The name is too long: it may have ${NAME_MAX} characters.`);
  const addresses = isIP(name) ? [name] : await found(lookup, name);
  return addresses.map((address) => ({ address, family: isIP(address) }));
}

/** Of a failure only the code of the resolver is told, as `dns` of Node has it. */
async function found(lookup: Lookup, name: string): Promise<readonly string[]> {
  try {
    return await lookup(name);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'ENOTFOUND';
    throw new ErrorForPack(code, `getaddrinfo ${code} ${name}`);
  }
}
