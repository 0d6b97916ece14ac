import { lookup as dnsLookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { canonicalAddress, classifyAddress } from './address.ts';
import { codeOf, EgressError, egressProblem } from './error.ts';
import { unlessInterrupted } from './interruption.ts';
import { allowsAddress, type EgressPolicy } from './policy.ts';
import type { Target } from './target.ts';

/** All addresses of a name, in the order to try them. */
export type Lookup = (hostname: string) => Promise<readonly string[]>;

/** The resolver of the operating system, so that the operator's hosts file and search rules hold. */
export const systemLookup: Lookup = async (hostname) => {
  const answers = await dnsLookup(hostname, { all: true });
  return answers.map(({ address }) => address);
};

interface ResolveOptions {
  readonly policy: EgressPolicy;
  readonly lookup: Lookup;
  readonly signal: AbortSignal;
}

async function ask(host: string, { lookup, signal }: ResolveOptions): Promise<readonly string[]> {
  try {
    return await unlessInterrupted(lookup(host), signal);
  } catch (error) {
    if (error instanceof EgressError) throw error;
    throw new EgressError(egressProblem('resolve_failed', `The host ${host} was not found.`), {
      code: codeOf(error),
    });
  }
}

/**
 * The addresses to pin. One answer that is not allowed refuses the host: who mixes public and private
 * answers is waiting for us to pick the wrong one.
 */
export async function resolve(target: Target, options: ResolveOptions): Promise<readonly string[]> {
  const { host } = target;
  const answers = isIP(host) ? [host] : await ask(host, options);
  if (answers.length === 0)
    throw new EgressError(egressProblem('resolve_failed', `The host ${host} has no address.`));
  return answers.map((answer) => {
    const address = canonicalAddress(answer);
    if (address !== undefined && allowsAddress(options.policy, classifyAddress(address).kind)) return address;
    const happened = `The host ${host} has an address that may not be called.`;
    throw new EgressError(egressProblem('address_not_allowed', happened));
  });
}
