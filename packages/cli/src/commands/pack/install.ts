/** Brings packs onto a host: from here, from a registry, or all that the lockfile lists. */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { type PackLock, type Root, resolvePacks } from '@gantry/packs';
import type { Action } from '../../actions.ts';
import type { Call } from '../../command.ts';
import { UsageError } from '../../io.ts';
import { printJson } from '../../output.ts';
import { printable } from '../../style.ts';
import { installAsking, namedGrants } from './approval.ts';
import { lockedPacks, resolvedPacks } from './chosen.ts';
import { type Delivery, deliver } from './delivery.ts';
import { readLockFile } from './lock-file.ts';
import { installBuilt, say, sayInstalled } from './operator.ts';
import { pinned, pinsOf } from './pins.ts';
import { openRegistries, requireRegistries } from './registries.ts';
import { buildOf } from './source.ts';
import { isLocal, workflowRoots } from './workflow-roots.ts';

/** `name@range`, as registries know it. */
const PUBLISHED = /^((?:core|vendor|community|private)\.[a-zA-Z0-9._-]+)(?:@(.+))?$/;
const COMMAND_LINE = 'the command line';

export const install: Action = {
  takes: '[pack] [--registry URL] [--grant A,B]',
  async act(call, word) {
    if (word === undefined) return installLocked(call);
    const found = await stat(path.resolve(call.io.cwd, word)).catch(() => undefined);
    const [, name, range = '*'] = PUBLISHED.exec(word) ?? [];
    if (found) return say(call, await installBuilt(call, await buildOf(call, word), false));
    if (name !== undefined) return installNamed(call, { name, range, requestedBy: COMMAND_LINE });
    throw new UsageError(
      `There is no ${word}. Name a pack folder, a .tgz archive, or a published pack such as vendor.acme.greeter@^1.2.`,
    );
  },
};

/** Frozen: what workflows here ask for must be in the lockfile, and the rest of it comes along. */
async function installLocked(call: Call): Promise<void> {
  const { name: file, lock } = await readLockFile(call);
  if (!lock) {
    throw new UsageError(
      `There is no ${file} here. Name a pack, such as vendor.acme.greeter@^1.2, or make the lockfile: gantry pack lock`,
    );
  }
  const asked = (await workflowRoots(call)) ?? [];
  const listed = lock.packs.map(({ name, version }): Root => ({ name, range: version, requestedBy: file }));
  const roots = [...asked.filter((root) => !isLocal(root)), ...listed];
  const packs = lockedPacks(lock, roots, await requireRegistries(call, lock));
  report(call, await deliver(call, packs));
}

/** Pins of the lockfile beat ranges, for the pack itself and for what it depends on. */
async function installNamed(call: Call, root: Root): Promise<void> {
  const { lock } = await readLockFile(call);
  const registries = await openRegistries(call, lock);
  if (!registries) return installThroughHost(call, root);
  if (lock && lists(lock, root.name))
    return report(call, await deliver(call, lockedPacks(lock, [root], registries), root.name));
  const pins = lock ? pinsOf(lock) : new Map<string, string>();
  const resolution = await resolvePacks({ roots: [root], registries: pinned(registries, pins) });
  const packs = resolvedPacks(resolution, registries, lock);
  report(call, await deliver(call, packs, root.name));
}

const lists = ({ packs }: PackLock, name: string): boolean => packs.some((pack) => pack.name === name);

/** The host asks its own registries, by its own rules of trust. What it wants a word for is asked here. */
async function installThroughHost(call: Call, { name, range }: Root): Promise<void> {
  const named = namedGrants(call, name);
  const other = [...named.keys()].find((key) => key !== name);
  if (other !== undefined) throw new UsageError(`The host grants to ${name} alone. Install ${other} first.`);
  const { signal } = call.io;
  const wish = { name, version: range, requires: [], undetermined: [] };
  const installed = await installAsking(call, wish, (grant, version = range) =>
    call.client.packs.installFromRegistry({ name, range: version, grant }, { signal }),
  );
  say(call, installed);
}

function thereAlready({ name, version, serving }: Delivery['present'][number]): string {
  if (serving === version) return 'is there already';
  return `is there already, and new runs use ${serving}, which came later. To end that: gantry pack rm ${name} ${serving}`;
}

export function report(call: Call, delivery: Delivery): void {
  const { installed, present } = delivery;
  if (call.args.flag('json')) printJson(call, delivery);
  else {
    for (const pack of installed) sayInstalled(call, pack);
    for (const pack of present) call.io.stdout.write(`${pack.name}@${pack.version} ${thereAlready(pack)}\n`);
    if (installed.length + present.length === 0) call.io.stdout.write('The lockfile lists no packs.\n');
  }
  for (const warning of installed.flatMap(({ warnings }) => warnings))
    call.io.stderr.write(`The host says of ${printable(warning)}\n`);
}
