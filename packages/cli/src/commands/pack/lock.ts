/** Resolves the ranges of workflows to exact versions for all users. */

import {
  exposures,
  lockOf,
  type PackLock,
  type Registries,
  type Resolution,
  type Root,
  resolveNear,
  writeLock,
} from '@gantry/packs';
import { didYouMean, OpenwopError } from '@gantry/protocol';
import type { Action } from '../../actions.ts';
import type { Call } from '../../command.ts';
import { UsageError } from '../../io.ts';
import { printJson } from '../../output.ts';
import { printable } from '../../style.ts';
import { splitPair } from '../../values.ts';
import { changesBetween, printChange, refuseReplaced } from './changes.ts';
import { FaultyPack } from './fault.ts';
import { type LockFile, pinsOf, readLockFile, saveLockFile } from './lock-file.ts';
import { requireRegistries } from './registries.ts';
import { isLocal, requireWorkflowRoots, type WorkflowRoot } from './workflow-roots.ts';

export const lock: Action = {
  takes: '[--workflows DIR] [--override NAME=VERSION] [--check]',
  async act(call) {
    const file = await readLockFile(call);
    const before = file.lock;
    const { roots, local } = lockable(await requireWorkflowRoots(call));
    const registries = await requireRegistries(call, before);
    const resolution = await resolveNear({
      roots,
      registries,
      overrides: overridesOf(call, before),
      pins: before ? pinsOf(before) : new Map(),
    });
    checkWorkflowPins(roots, resolution);
    const used = usedOverrides(call, resolution);
    const next = await lockOf({ ...resolution, overrides: used }, registries, before);
    refuseReplaced(before?.packs ?? [], next.packs);
    const warnings = [...local, ...(await warningsOf(resolution, registries))];
    await conclude(call, file, { next, warnings, roots: roots.length });
  },
};

interface Conclusion {
  readonly next: PackLock;
  readonly warnings: readonly string[];
  readonly roots: number;
}

async function conclude(call: Call, file: LockFile, { next, warnings, roots }: Conclusion): Promise<void> {
  const { args, io } = call;
  const text = writeLock(next);
  const isChanged = text !== file.text;
  const changes = changesBetween(file.lock?.packs ?? [], next.packs);
  const isKept = args.flag('check') || !isChanged;
  if (!isKept) await saveLockFile(file, text);
  for (const warning of warnings) io.stderr.write(`${printable(warning)}\n`);
  if (args.flag('json')) printJson(call, { file: file.name, changed: isChanged, changes, warnings });
  else {
    for (const change of changes) printChange(call, change);
    const packs = `${next.packs.length} pack${next.packs.length === 1 ? '' : 's'}`;
    const none = roots === 0 ? ' No workflow there names packs.' : '';
    const verb = isChanged ? (isKept ? 'would change' : 'is written') : 'is up to date';
    io.stdout.write(`${printable(file.name)} ${verb}: ${packs}.${none}\n`);
  }
  if (args.flag('check') && isChanged) {
    io.stderr.write('Bring it up to date: gantry pack lock\n');
    throw new FaultyPack();
  }
}

function lockable<T extends Root>(all: readonly T[]): { roots: T[]; local: string[] } {
  const local = new Set(all.filter(isLocal).map(({ name }) => name));
  return {
    roots: all.filter((root) => !isLocal(root)),
    local: [...local].map((name) => `${name} stays on this machine and is not locked.`),
  };
}

/** A workflow may pin the archive in addition to the version. */
function checkWorkflowPins(roots: readonly WorkflowRoot[], { packs }: Pick<Resolution, 'packs'>): void {
  for (const { name, integrity, requestedBy } of roots) {
    const chosen = packs.find((pack) => pack.name === name);
    if (integrity === undefined || !chosen || chosen.record.integrity === integrity) continue;
    throw new OpenwopError('pack_integrity_mismatch', {
      message: `${requestedBy} takes ${name} only as ${integrity}; ${chosen.version} is ${chosen.record.integrity}. Correct "integrity" in its packs map, or the version.`,
    });
  }
}

/** Overrides of the lockfile, then those of the command line; one without a version is removed. */
function overridesOf({ args }: Call, before: PackLock | undefined): Record<string, string> {
  const given = args.list('override').map((pair) => splitPair(pair, '--override'));
  const merged = { ...before?.overrides, ...Object.fromEntries(given) };
  return Object.fromEntries(Object.entries(merged).filter(([, version]) => version !== ''));
}

/** An old override that no pack needs is removed; a new one is probably mistyped. */
function usedOverrides({ args }: Call, { overrides, packs }: Resolution): Record<string, string> {
  const names = packs.map(({ name }) => name);
  for (const pair of args.list('override')) {
    const [name, version] = splitPair(pair, '--override');
    if (version !== '' && !names.includes(name))
      throw new UsageError(`--override names ${name}, which nothing asks for.${didYouMean(name, names)}`);
  }
  return Object.fromEntries(Object.entries(overrides).filter(([name]) => names.includes(name)));
}

/** Warnings about the chosen versions: withdrawn, deprecated, or known to be vulnerable. */
export async function warningsOf(resolution: Resolution, registries: Registries): Promise<string[]> {
  const used = registries.all.filter(({ url }) => resolution.packs.some(({ registry }) => registry === url));
  const warnings = [...resolution.warnings];
  for (const registry of used) {
    const advisories = await registry.advisories();
    for (const pack of resolution.packs.filter((one) => one.registry === registry.url))
      for (const { advisory, fixedIn } of exposures(pack, advisories))
        warnings.push(
          `${pack.name}@${pack.version} has ${advisory.id} (${advisory.severity}): ${advisory.summary}; fixed in ${fixedIn ?? 'no version yet'}.`,
        );
  }
  return warnings;
}
