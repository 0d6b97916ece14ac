/** The surfaces that the code of a pack may call; the call gate of the surfaces applies the same rule. */
import { surfaceGrant } from '@gantry/packs';
import { isHeldToNamed, type PackSurfaces, surfacesNamedBy } from '@gantry/protocol';
import type { VersionRecord } from './pack-record.ts';

type Surfacing = Pick<VersionRecord, 'code' | 'peers' | 'nodes' | 'surfaceUnknowns'>;

/** WebAssembly has its own imports, and remote code cannot call the host. */
const CALLING: readonly string[] = ['javascript', 'python'];

export function surfacesOf(
  { code, peers = [], nodes, surfaceUnknowns = [] }: Surfacing,
  offered: readonly string[],
  granted: readonly string[],
): PackSurfaces | undefined {
  if (!code || !CALLING.includes(code.language)) return;
  const named = surfacesNamedBy(peers).filter((capability) => offered.includes(capability));
  const declared = isHeldToNamed(named);
  const allowed = offered.filter((one) => named.includes(one) || granted.includes(surfaceGrant(one)));
  return {
    access: nodes.every(({ effect }) => effect === 'pure') ? 'read' : 'write',
    capabilities: allowed,
    declared,
    ...(!declared && surfaceUnknowns.length > 0 && { undetermined: [...surfaceUnknowns] }),
  };
}
