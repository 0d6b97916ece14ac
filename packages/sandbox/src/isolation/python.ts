/** The Python for packs, behind the wall of this machine. */
import { FILTER_HINT, SandboxUnavailable } from './choose.ts';
import { type Launcher, pythonView, type Wall } from './launch.ts';
import { type Failure, probe } from './probe.ts';
import { findPythons, ToolKilled } from './tools.ts';

export type PythonFound =
  | { readonly kind: 'found'; readonly version: string; readonly launcher: Launcher }
  | { readonly kind: 'missing'; readonly reason: string }
  /** Tests of it were killed or timed out. */
  | { readonly kind: 'unknown'; readonly error: SandboxUnavailable };

/** A Python that was verified to start behind this wall. Its code counts as native, so it needs the filter. */
export async function choosePython(isolation: Wall, mayBeUnfiltered = false): Promise<PythonFound> {
  if (isolation.kind === 'permission-only')
    return { kind: 'missing', reason: 'Python packs need an OS sandbox' };
  if (!isolation.isFiltered && !mayBeUnfiltered)
    return { kind: 'missing', reason: `Python packs need a filter for system calls. ${FILTER_HINT}` };
  let failure: Failure = { reason: 'no python3 of version 3.10 or later was found', wasKilled: false };
  try {
    for await (const python of findPythons()) {
      const probed = await probe(isolation, pythonView(python));
      if (!('wasKilled' in probed)) return { kind: 'found', version: python.version, launcher: probed };
      failure = { ...probed, wasKilled: probed.wasKilled || failure.wasKilled };
    }
  } catch (error) {
    if (!(error instanceof ToolKilled)) throw error;
    failure = { reason: error.message, wasKilled: true };
  }
  if (failure.wasKilled) return { kind: 'unknown', error: new SandboxUnavailable([failure.reason], true) };
  return { kind: 'missing', reason: failure.reason };
}
