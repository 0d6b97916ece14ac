/** What of the host the code of a pack may call; the desk of the surfaces judges its calls by the same rule. */
import { type PackSurfaces, surfacesNamedBy } from '@gantry/protocol';
import type { VersionRecord } from './pack-record.ts';

/** WebAssembly has its own imports, and remote code no way back. */
const CALLING: readonly string[] = ['javascript', 'python'];

export function surfacesOf(
  { code, peers = [], nodes }: Pick<VersionRecord, 'code' | 'peers' | 'nodes'>,
  offered: readonly string[],
): PackSurfaces | undefined {
  if (!code || !CALLING.includes(code.language)) return;
  const named = surfacesNamedBy(peers).filter((capability) => offered.includes(capability));
  const declared = named.length > 0;
  return {
    access: nodes.every(({ effect }) => effect === 'pure') ? 'read' : 'write',
    capabilities: declared ? named : [...offered],
    declared,
  };
}
