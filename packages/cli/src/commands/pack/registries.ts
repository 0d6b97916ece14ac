/** The registries of a command, and the access to them. */
import { createEgressByPurpose, type EgressByPurpose, readAllowList } from '@gantry/egress';
import {
  type CopyableRegistry,
  openRegistry as openNamed,
  type PackLock,
  Registries,
  readRegistries,
  sameRegistry,
} from '@gantry/packs';
import type { Call } from '../../command.ts';
import { UsageError } from '../../io.ts';

/** From the command line or the environment: the primary first, then the fallbacks. */
export const namedRegistries = ({ args, io }: Pick<Call, 'args' | 'io'>): string[] =>
  readRegistries(args.text('registry') ?? io.env.GANTRY_REGISTRY_URL);

/** Those, or else the registries of the lockfile. */
export async function requireRegistries(call: Call, lock?: PackLock): Promise<Registries> {
  const named = namedRegistries(call);
  const locked = lock?.registry === undefined ? [] : [lock.registry, ...(lock.fallbackRegistries ?? [])];
  const names = named.length > 0 ? named : locked;
  if (names.length > 0)
    return new Registries({ registries: await Promise.all(names.map((name) => openRegistry(call, name))) });
  throw new UsageError(
    'Say which registry to ask: --registry with an address or a folder, or GANTRY_REGISTRY_URL.',
  );
}

export const openRegistry = (
  call: Pick<Call, 'args' | 'io'>,
  name: string,
  key = keyFor(call, name),
): Promise<CopyableRegistry> => openNamed(name, { ...call.io, egress: egressOf(call.io), key });

/** Only for the first registry that the user named: fallbacks, and registries of a lockfile, must not get the key. */
function keyFor(call: Pick<Call, 'args' | 'io'>, name: string): string | undefined {
  const [first] = namedRegistries(call);
  return first !== undefined && sameRegistry(first, name) ? call.io.env.GANTRY_REGISTRY_KEY : undefined;
}

export const egressOf = ({ env }: Pick<Call['io'], 'env'>): EgressByPurpose =>
  createEgressByPurpose({ allow: readAllowList(env.GANTRY_EGRESS_ALLOW) });
