import { SURFACE_NAMES } from '@gantry/protocol';
import { covers, type RuntimeRequirement } from '../manifest/node.ts';

/** Descriptions for operators before they grant a permission, including the risks. */
const PERMISSIONS: Readonly<Record<RuntimeRequirement, string>> = {
  'net.dns': 'Look up host names. A lookup shows the name server what the pack is interested in.',
  'net.outbound':
    'Send requests to public addresses on the internet, and so send out what it is given. Other addresses stay closed unless the operator opens them.',
  crypto: 'Use keys, signatures and encryption beyond plain hashing.',
  subprocess: 'Start other programs inside its sandbox. This host grants it to no pack.',
  'fs.read': 'Read files in its own folder on this host. It sees no other files.',
  'fs.write': 'Write files in its own folder on this host, which takes disk space.',
  'env.read':
    'Read the environment variables that the operator names for it in GANTRY_PACK_ENV. Only the operator grants it.',
  clock: 'Act on the time of day, so that running it again later can give another result.',
};

const isKnown = (permission: string): permission is RuntimeRequirement =>
  Object.hasOwn(PERMISSIONS, permission);

export function describePermission(permission: string): string {
  if (isKnown(permission)) return PERMISSIONS[permission];
  const capability = permission.replace(/^host\./, '');
  const stored = SURFACE_NAMES.find((surface) => surface.capability === capability)?.holds;
  return stored === undefined
    ? `${permission}: this host does not know what it allows.`
    : `Read and change ${stored} that your packs share on this host. Its manifest does not name this; its code calls it.`;
}

export interface GrantDifference {
  /** Needs a new approval: no earlier grant covers it. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly kept: readonly string[];
}

/** The changes when a pack that was granted `before` requires `after`. */
export function grantDifference(before: readonly string[], after: readonly string[]): GrantDifference {
  const added = unmetRequirements(after, before);
  const kept = after.filter((wanted) => !added.includes(wanted));
  return { added, removed: unmetRequirements(before, after), kept };
}

/** Requirements that no grant covers. A grant that is narrower than the requirement does not count. */
export const unmetRequirements = (requires: readonly string[], grants: readonly string[]): string[] =>
  requires.filter((requirement) => !grants.some((grant) => covers(grant, requirement)));
