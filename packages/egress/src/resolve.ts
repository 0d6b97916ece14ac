import { lookup as dnsLookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { type Limiter, LimiterError } from '@gantry/limiter';
import { canonicalAddress } from './address.ts';
import { EgressError, egressError } from './error.ts';
import { unlessInterrupted } from './interruption.ts';
import type { TargetHost } from './target.ts';

/** Returns all addresses of a name, in the order to try them. */
export type Lookup = (hostname: string, signal?: AbortSignal) => Promise<readonly string[]>;

/** The resolver of the operating system: for names in the operator's network, which its search rules complete. */
export const systemLookup: Lookup = async (hostname) => {
  const answers = await dnsLookup(hostname, { all: true });
  return answers.map(({ address }) => address);
};

export interface ResolveOptions {
  readonly lookup: Lookup;
  /** For hosts that the operator configured. */
  readonly namedLookup: Lookup;
  /** Limits lookups per tenant: slow names of one tenant do not delay others. */
  readonly lookups: Limiter;
  readonly tenant: string;
  readonly signal: AbortSignal;
}

async function ask(
  { host, isNamed }: TargetHost,
  { lookups, tenant, signal, ...options }: ResolveOptions,
): Promise<readonly string[]> {
  const lookup = isNamed ? options.namedLookup : options.lookup;
  try {
    const look = () => unlessInterrupted(lookup(host, signal), signal);
    return await lookups.run(tenant, look, { signal });
  } catch (error) {
    if (error instanceof EgressError) throw error;
    if (error instanceof LimiterError)
      throw egressError('resolve_failed', `The host ${host} could not be looked up now.`);
    throw egressError('resolve_failed', `The host ${host} was not found.`, error);
  }
}

/**
 * The addresses to pin. One address that is not allowed refuses the host: a name with both public and private
 * addresses may be an attack.
 */
export async function resolve(target: TargetHost, options: ResolveOptions): Promise<readonly string[]> {
  const { host } = target;
  // An address in a URL was checked with the URL.
  if (isIP(host)) return [canonicalAddress(host) ?? host];
  const answers = await ask(target, options);
  if (answers.length === 0) throw egressError('resolve_failed', `The host ${host} has no address.`);
  return answers.map((answer) => {
    const address = canonicalAddress(answer) ?? answer;
    const problem = target.problemOf(address);
    if (problem) throw new EgressError(problem);
    return address;
  });
}
