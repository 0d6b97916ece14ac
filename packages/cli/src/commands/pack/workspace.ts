/** The used and required packs: from the lockfile and its workflows, or else from the host. */
import type { LockedPack, PackLock, Registries, Root } from '@gantry/packs';
import type { InstalledPack } from '@gantry/protocol';
import type { Call } from '../../command.ts';
import type { Version } from './changes.ts';
import { type LockFile, readLockFile } from './lock-file.ts';
import { isLocal, workflowRoots } from './workflow-roots.ts';

export interface Workspace {
  /** Absent without a lockfile; then `packs` are those of the host. */
  readonly file?: LockFile;
  readonly lock: PackLock;
  readonly roots: readonly Root[];
}

export async function readWorkspace(call: Call): Promise<Workspace> {
  const file = await readLockFile(call);
  if (!file.lock) return installedWorkspace(await call.client.packs.list());
  const asked = await workflowRoots(call);
  const roots = asked?.filter((root) => !isLocal(root)) ?? rootsOf(file.lock.packs, file.name);
  return { file, lock: file.lock, roots };
}

/** Packs of the host that came from no registry are left unchanged. Packs of a lockfile must be known. */
export async function knownTo(registries: Registries, workspace: Workspace): Promise<Workspace> {
  if (workspace.file) return workspace;
  const known = new Set<string>();
  for (const { name } of workspace.lock.packs) if (await registries.index(name)) known.add(name);
  const packs = workspace.lock.packs.filter(({ name }) => known.has(name));
  return { lock: { ...workspace.lock, packs }, roots: workspace.roots.filter(({ name }) => known.has(name)) };
}

/**
 * Without workflows, packs on which nothing in the lockfile depends are roots. Their ranges are unknown, so
 * `^` is used.
 */
function rootsOf(packs: readonly LockedPack[], requestedBy: string): Root[] {
  const dependencies = new Set(packs.flatMap((pack) => Object.keys(pack.dependencies ?? {})));
  return packs.filter(({ name }) => !dependencies.has(name)).map((pack) => compatible(pack, requestedBy));
}

const compatible = ({ name, version }: Version, requestedBy: string): Root => ({
  name,
  range: `^${version}`,
  requestedBy,
});

/** Packs that came from a folder, or from the settings of the host, cannot be updated by this caller. */
function installedWorkspace(installed: readonly InstalledPack[]): Workspace {
  const own = installed.filter((pack) => !pack.shared && !pack.development && !isLocal(pack));
  // The host lists the version that serves new runs first.
  const serving = own.filter(({ name }, index) => own.findIndex((pack) => pack.name === name) === index);
  const packs = serving.map(({ name, version, integrity }): LockedPack => ({ name, version, integrity }));
  const lock: PackLock = { lockfileVersion: 1, generatedAt: new Date(0).toISOString(), packs };
  return { lock, roots: packs.map((pack) => compatible(pack, 'the host')) };
}
