/** Prints the permissions of a pack in plain words and asks for approval. */
import { ApiError } from '@gantry/client';
import { describePermission, OPERATOR_REQUIREMENT, requiresOf, surfaceAsks } from '@gantry/packs';
import type { Json, PackAsking } from '@gantry/protocol';
import type { Call } from '../../command.ts';
import { isConfirmed, UsageError } from '../../io.ts';
import { printable } from '../../style.ts';
import type { BuiltPack } from './source.ts';

/** Grants of the command line, by pack. */
export type Grants = ReadonlyMap<string, string[]>;

/**
 * `--grant A,B` is for the pack that the command names; other packs are named explicitly: `--grant
 * vendor.acme.mail=A,B`.
 */
export function namedGrants({ args }: Call, named: string | undefined): Grants {
  const grants = new Map<string, string[]>();
  for (const item of args.list('grant')) {
    const equals = item.indexOf('=');
    const ids = item.slice(equals + 1).split(',');
    const name = equals < 0 ? named : item.slice(0, equals);
    if (name === undefined) throw new UsageError(`Say which pack gets it: --grant NAME=${ids.join(',')}`);
    grants.set(name, [...(grants.get(name) ?? []), ...ids.filter((id) => id !== '')]);
  }
  return grants;
}

export function printUndetermined({ io }: Pick<Call, 'io'>, undetermined: readonly string[]): void {
  for (const what of undetermined.slice(0, 5))
    io.stdout.write(`? surfaces     cannot be determined: ${printable(what)}\n`);
}

export function printPermissions({ io }: Pick<Call, 'io'>, ids: readonly string[], mark = ' '): void {
  const width = Math.max(...ids.map((id) => id.length));
  for (const id of ids)
    io.stdout.write(`${mark} ${id.padEnd(width)}  ${printable(describePermission(id))}\n`);
}

/** An approval is valid while the command runs: `dev` installs other content with every change. */
const approved = new WeakMap<Call, Grants>();

/**
 * The host checks the existing grants; permissions that it wants to be approved are asked for here, for all
 * packs at once. `named` is the pack that the command line names. The approval is for the shown plan, which
 * `confirms` identifies.
 */
export async function installAsking<T>(
  call: Call,
  named: string | undefined,
  install: (grants: Grants, confirms?: string) => Promise<T>,
): Promise<T> {
  const before = approved.get(call) ?? new Map<string, string[]>();
  const given = merged(namedGrants(call, named), before);
  try {
    return await install(given);
  } catch (error) {
    const { packs, plan } = askedBy(error);
    if (packs.length === 0) throw error;
    await ask(call, packs, named);
    const asked: Grants = new Map(packs.map(({ name, unmet }) => [name, [...unmet]]));
    approved.set(call, merged(before, asked));
    return install(merged(given, asked), plan);
  }
}

const merged = (left: Grants, right: Grants): Grants =>
  new Map(
    [...left.keys(), ...right.keys()].map((name) => [
      name,
      [...new Set([...(left.get(name) ?? []), ...(right.get(name) ?? [])])],
    ]),
  );

/** The grants that the host requires before it installs. */
function askedBy(error: unknown): { packs: PackAsking[]; plan?: string } {
  if (!(error instanceof ApiError) || error.code !== 'pack_runtime_requirement_unmet') return { packs: [] };
  const { packs, plan } = error.details ?? {};
  const asking = Array.isArray(packs) ? packs.map(readAsking) : [];
  return { packs: asking, ...(typeof plan === 'string' && { plan }) };
}

function readAsking(item: Json): PackAsking {
  const read = typeof item === 'object' && item !== null && !Array.isArray(item) ? item : {};
  const { name, version, unmet, granted, undetermined } = read;
  return {
    name: String(name),
    version: String(version),
    unmet: texts(unmet),
    granted: texts(granted),
    undetermined: texts(undetermined),
  };
}

const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];

export interface Wish {
  /** Permissions, including those for surfaces that the code calls and the manifest does not name. */
  readonly requires: readonly string[];
  /** Uncertainties of that analysis, in words. */
  readonly undetermined: readonly string[];
}

export function wishOf({ manifest, files }: Pick<BuiltPack, 'manifest' | 'files'>): Wish {
  const { asks, unknown: undetermined } = surfaceAsks(manifest, files);
  return { requires: [...requiresOf(manifest), ...asks], undetermined };
}

/** A surface may be granted even if it is not required: calls in code cannot always be determined. */
export function refuseNeedless(pack: BuiltPack, given: readonly string[]): void {
  const { manifest } = pack;
  const { requires } = wishOf(pack);
  const needless = given.find((id) => !requires.includes(id) && !id.startsWith('host.'));
  if (needless === undefined) return;
  const asks = requires.join(', ') || 'nothing';
  throw new UsageError(
    `${manifest.name}@${manifest.version} does not ask for "${needless}". It asks for ${asks}.`,
  );
}

/** Permissions that only the operator can grant cannot be approved here. */
function refuseOperators(packs: readonly PackAsking[]): void {
  const asking = packs.find(({ unmet }) => unmet.includes(OPERATOR_REQUIREMENT));
  if (asking)
    throw new UsageError(
      `Nothing was installed. ${asking.name}@${asking.version} asks for ${OPERATOR_REQUIREMENT}, which only the operator of the host grants: in GANTRY_PACKS, with the variables in GANTRY_PACK_ENV.`,
    );
}

/** Throws unless a user approves, which needs a terminal. */
async function ask({ io }: Call, packs: readonly PackAsking[], named: string | undefined): Promise<void> {
  refuseOperators(packs);
  for (const { name, version, unmet, granted, undetermined } of packs) {
    const more = granted.length > 0 ? 'more than before' : 'permission';
    io.stdout.write(`${name}@${version} asks for ${more}:\n`);
    printPermissions({ io }, unmet, '+');
    if (granted.length > 0) io.stdout.write(`  granted before: ${granted.join(', ')}\n`);
    printUndetermined({ io }, undetermined);
  }
  if (!io.stdin.isTTY || !io.stdout.isTTY) {
    const flags = packs.map(({ name, unmet }) => {
      const whose = name === named ? '' : `${name}=`;
      return `--grant ${whose}${unmet.join(',')}`;
    });
    throw new UsageError(`Nothing was installed. To grant it, add: ${flags.join(' ')}`);
  }
  if (!(await isConfirmed(io, 'Grant this and install?')))
    throw new UsageError('Nothing was granted or installed.');
}
