/** Updates packs to newer versions: shows the changes, then asks for approval. */

import {
  grantDifference,
  lockOf,
  type Registries,
  type Resolution,
  type ResolvedPack,
  resolveNear,
  writeLock,
} from '@gantry/packs';
import { didYouMean } from '@gantry/protocol';
import type { Action } from '../../actions.ts';
import type { Call } from '../../command.ts';
import { isConfirmed, UsageError } from '../../io.ts';
import { printJson } from '../../output.ts';
import { printable } from '../../style.ts';
import { printPermissions } from './approval.ts';
import { type Change, changesBetween, printChange, refuseReplaced, type Version } from './changes.ts';
import { installPlanned, report } from './install.ts';
import { warningsOf } from './lock.ts';
import { pinsOf, saveLockFile } from './lock-file.ts';
import { requireRegistries } from './registries.ts';
import { knownTo, readWorkspace, type Workspace } from './workspace.ts';

export const update: Action = {
  takes: '[names] [--yes] [--grant NAME=A,B]',
  async act(call, names) {
    const read = await readWorkspace(call);
    const registries = await requireRegistries(call, read.file?.lock);
    const workspace = await knownTo(registries, read);
    const { lock, roots } = workspace;
    const pins = pinsLeft(workspace, names?.split(','));
    const resolution = await resolveNear({ roots, registries, overrides: lock.overrides ?? {}, pins });
    const changes = changesBetween(lock.packs, resolution.packs.map(versionOf));
    if (changes.length === 0) return nothingToDo(call);
    if (workspace.file) refuseReplaced(lock.packs, resolution.packs.map(versionOf));
    for (const warning of await warningsOf(resolution, registries))
      call.io.stderr.write(`${printable(warning)}\n`);
    await show(call, changes, { resolution, registries });
    await confirm(call);
    await carryOut(call, workspace, { resolution, registries, changes });
  },
};

const versionOf = ({ name, version, record }: ResolvedPack): Version => ({
  name,
  version,
  integrity: record.integrity,
});

interface Chosen {
  readonly resolution: Resolution;
  readonly registries: Registries;
}

/** Updates everything, or only the named packs: then the others stay at their version if possible. */
function pinsLeft({ lock }: Workspace, names: readonly string[] | undefined): Map<string, string> {
  const pins = pinsOf(lock);
  if (names === undefined) return new Map();
  for (const name of names) {
    if (pins.delete(name)) continue;
    throw new UsageError(
      `${name} is not among the packs that could move.${didYouMean(name, [...pins.keys()]) || ' See `gantry pack outdated`.'}`,
    );
  }
  return pins;
}

function nothingToDo(call: Call): void {
  if (call.args.flag('json')) printJson(call, { installed: [], present: [] });
  else call.io.stdout.write('Everything is up to date.\n');
}

/** Shows what the versions require, regardless of existing grants. */
async function show(
  call: Call,
  changes: readonly Change[],
  { resolution, registries }: Chosen,
): Promise<void> {
  if (call.args.flag('json')) return;
  for (const change of changes) {
    printChange(call, change);
    if (change.kind === 'removed') continue;
    const { requires = [] } = resolution.packs.find(({ name }) => name === change.name) ?? {};
    const before = change.kind === 'moved' ? await requiredBy(registries, change.name, change.from) : [];
    const { added, removed } = grantDifference(before, requires);
    if (added.length > 0) printPermissions(call, added, '    +');
    if (removed.length > 0) printPermissions(call, removed, '    -');
  }
}

const requiredBy = async (
  registries: Registries,
  name: string,
  version: string,
): Promise<readonly string[]> => (await registries.manifest(name, version))?.manifest.requires ?? [];

async function confirm({ args, io }: Call): Promise<void> {
  if (args.flag('yes')) return;
  if (!io.stdin.isTTY || !io.stdout.isTTY)
    throw new UsageError('Nothing was changed. To go on without being asked, add: --yes');
  if (!(await isConfirmed(io, 'Update these?'))) throw new UsageError('Nothing was changed.');
}

/**
 * The lockfile is written last: if this is interrupted, the same command continues. Without a lockfile only
 * changed packs are installed, since the host may have other content under an unchanged version.
 */
async function carryOut(
  call: Call,
  { file, lock }: Workspace,
  { resolution, registries, changes }: Chosen & { readonly changes: readonly Change[] },
): Promise<void> {
  const text = file && writeLock(await lockOf(resolution, registries, lock));
  const isMoving = ({ name }: ResolvedPack): boolean =>
    file !== undefined || changes.some((change) => change.name === name);
  const packs = resolution.packs
    .filter(isMoving)
    .map(({ name, version }) => ({ name, range: version, requestedBy: file?.name ?? 'the update' }));
  const frozen = text === undefined ? {} : { lock: text, frozen: true };
  const result = await installPlanned(call, { packs, ...frozen });
  if (file && text !== undefined) await saveLockFile(file, text);
  report(call, result);
  if (file && !call.args.flag('json')) call.io.stdout.write(`${printable(file.name)} is written\n`);
}
