/** Installs packs on a host: from a local file or folder, from its registries, or all that the lockfile lists. */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { ApiError } from '@gantry/client';
import { isRegistryAddress, readRange, readRegistries } from '@gantry/packs';
import { OpenwopError, type PackPlan, type PackPlanResult } from '@gantry/protocol';
import type { Action } from '../../actions.ts';
import type { Call } from '../../command.ts';
import { UsageError } from '../../io.ts';
import { printJson } from '../../output.ts';
import { printable } from '../../style.ts';
import { installAsking } from './approval.ts';
import { pinsOf, readLockFile } from './lock-file.ts';
import { installBuilt, proofOf, say, sayInstalled } from './operator.ts';
import { buildOf } from './source.ts';
import { isLocal, workflowRoots } from './workflow-roots.ts';

/** `name@range`, as in registries. */
const PUBLISHED = /^((?:core|vendor|community|private)\.[a-zA-Z0-9._-]+)(?:@(.+))?$/;
const COMMAND_LINE = 'the command line';

export const install: Action = {
  takes: '[pack] [--registry URL] [--grant A,B]',
  async act(call, word) {
    if (word === undefined) return installLocked(call);
    const found = await stat(path.resolve(call.io.cwd, word)).catch(() => undefined);
    const [, name, range = '*'] = PUBLISHED.exec(word) ?? [];
    if (found) return say(call, await installBuilt(call, await buildOf(call, word), false));
    if (name !== undefined) return installNamed(call, name, range);
    throw new UsageError(
      `There is no ${word}. Name a pack folder, a .tgz archive, or a published pack such as vendor.acme.greeter@^1.2.`,
    );
  },
};

/** Frozen: the lockfile must contain the packs of all workflows here, and all of it is installed. */
async function installLocked(call: Call): Promise<void> {
  const { name: file, text: lock, lock: listing } = await readLockFile(call);
  if (!listing || lock === undefined) {
    throw new UsageError(
      `There is no ${file} here. Name a pack, such as vendor.acme.greeter@^1.2, or make the lockfile: gantry pack lock`,
    );
  }
  const asked = (await workflowRoots(call))?.filter((root) => !isLocal(root)) ?? [];
  const listed = listing.packs.map(({ name, version }) => ({ name, range: version, requestedBy: file }));
  const roots = asked.map(({ name, range, requestedBy }) => ({ name, range, requestedBy }));
  report(call, await installPlanned(call, { packs: [...roots, ...listed], lock, frozen: true }));
}

/** Pins of the lockfile take precedence over ranges, for the pack and for its dependencies. */
async function installNamed(call: Call, name: string, range: string): Promise<void> {
  const { name: file, text: lock, lock: listing } = await readLockFile(call);
  const packs = [{ name, range, requestedBy: COMMAND_LINE }];
  report(call, await installPlanned(call, { packs, ...(lock !== undefined && { lock }) }, name));
  const pin = listing && pinsOf(listing).get(name);
  if (pin !== undefined && readRange(range)?.range.test(pin) === false)
    call.io.stderr.write(
      `${file} pins ${name} to ${pin}, so ${printable(range)} was ignored. To move the pin: gantry pack update ${name}\n`,
    );
}

/** The host resolves, downloads and checks; permissions that it wants to be approved are asked for here. */
export async function installPlanned(call: Call, plan: PackPlan, named?: string): Promise<PackPlanResult> {
  const { args, io, client } = call;
  const only = readRegistries(args.text('registry')).map((name) =>
    isRegistryAddress(name) || name.startsWith('file:') ? name : path.resolve(io.cwd, name),
  );
  const rules = {
    ...(only.length > 0 && { registries: only }),
    ...(args.flag('older') && { older: true }),
    ...(args.flag('unverified') && { unverified: true }),
  };
  try {
    return await installAsking(call, named, (grants, confirms) =>
      client.packs.installPlan(
        {
          ...plan,
          ...rules,
          grants: Object.fromEntries(grants),
          ...(confirms !== undefined && { confirms }),
        },
        { signal: io.signal },
      ),
    );
  } catch (error) {
    if (
      !(error instanceof ApiError) ||
      error.code !== 'pack_signature_unverifiable' ||
      args.flag('unverified')
    )
      throw error;
    throw new OpenwopError('pack_signature_unverifiable', {
      message: `${error.message} To install it without verification, add --unverified.`,
    });
  }
}

function thereAlready({ name, version, serving }: PackPlanResult['present'][number]): string {
  if (serving === version) return 'is already installed';
  return `is already installed, and new runs use ${serving}, which was installed later. To change that: gantry pack rm ${name} ${serving}`;
}

export function report(call: Call, result: PackPlanResult): void {
  const { installed, present } = result;
  if (call.args.flag('json')) printJson(call, result);
  else {
    for (const pack of installed) sayInstalled(call, pack);
    for (const pack of present) call.io.stdout.write(`${pack.name}@${pack.version} ${thereAlready(pack)}\n`);
    if (installed.length + present.length === 0) call.io.stdout.write('The lockfile lists no packs.\n');
  }
  for (const pack of installed) {
    const lines = [`${pack.name}@${pack.version}  ${proofOf(pack)}`, ...pack.warnings];
    call.io.stderr.write(lines.map((line) => `${printable(line)}\n`).join(''));
  }
}
