/** `dns` for pack code, performed by the host through egress. */
import { isIP } from 'node:net';
import { type Egress, EgressError, type EgressTerms } from '@gantry/egress';
import type { Data } from '../invocation.ts';
import { ErrorForPack } from '../result.ts';

const NAME_MAX = 253;

/** Returns only addresses that `fetch` could reach. */
export async function guardedLookup(
  egress: Pick<Egress, 'addresses'>,
  args: readonly Data[],
  terms: EgressTerms,
): Promise<Data> {
  const name = String(args[0]);
  if (name.length > NAME_MAX)
    throw new ErrorForPack('ENOTFOUND', `The name is too long: the limit is ${NAME_MAX} characters.`);
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
