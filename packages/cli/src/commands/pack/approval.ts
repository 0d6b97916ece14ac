/** Prints the permissions of a pack in plain words and asks for approval. */
import { ApiError, type Client } from '@gantry/client';
import {
  describePermission,
  grantDifference,
  type PackManifest,
  requiresOf,
  surfaceAsks,
} from '@gantry/packs';
import type { InstalledPack } from '@gantry/protocol';
import type { Call } from '../../command.ts';
import { UsageError } from '../../io.ts';
import { printable } from '../../style.ts';

/** A version that is about to be installed, and what it asks for. */
export interface Wish {
  readonly name: string;
  readonly version: string;
  /** Permissions, those for surfaces that its code calls and its manifest does not name among them. */
  readonly requires: readonly string[];
  /** What cannot be determined about them, in words. */
  readonly undetermined: readonly string[];
}

/** What the command line grants, by pack. */
export type Grants = ReadonlyMap<string, readonly string[]>;

export function wishOf(manifest: PackManifest, files: ReadonlyMap<string, Uint8Array>): Wish {
  const { name, version } = manifest;
  const { asks, unknown: undetermined } = surfaceAsks(manifest, files);
  return { name, version, requires: [...requiresOf(manifest), ...asks], undetermined };
}

/** `--grant A,B` is for the pack that the command names; any other one is named: `--grant vendor.acme.mail=A,B`. */
export function namedGrants({ args }: Call, named: string | undefined): Grants {
  const grants = new Map<string, readonly string[]>();
  for (const item of args.list('grant')) {
    const equals = item.indexOf('=');
    const ids = item.slice(equals + 1).split(',');
    const name = equals < 0 ? named : item.slice(0, equals);
    if (name === undefined) throw new UsageError(`Say which pack gets it: --grant NAME=${ids.join(',')}`);
    grants.set(name, [...(grants.get(name) ?? []), ...ids.filter((id) => id !== '')]);
  }
  return grants;
}

/** A grant belongs to a signer, so what another one was granted says nothing. */
async function grantedBefore(client: Client, { name, signedBy }: ProvedWish): Promise<readonly string[]> {
  try {
    const { versions } = await client.packs.get(name);
    const own = versions.find((one) => signedBy !== undefined && one.signedBy === signedBy);
    return own?.granted ?? [];
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return [];
    throw error;
  }
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

/** Verified here, so that the signer is known. */
export interface ProvedWish extends Wish {
  readonly signedBy?: string | undefined;
}

/** A yes holds as long as the command runs: `dev` installs other bytes with every change. */
const approved = new WeakMap<Call, readonly string[]>();

/** The host judges what is granted already; what it wants a word for is asked here. */
export async function installAsking(
  call: Call,
  wish: Wish,
  install: (grant: readonly string[], version?: string) => Promise<InstalledPack>,
): Promise<InstalledPack> {
  const { name } = wish;
  const before = approved.get(call) ?? [];
  const given = [...(namedGrants(call, name).get(name) ?? []), ...before];
  try {
    return await install(given);
  } catch (error) {
    const unmet = unmetBy(error, name);
    if (!unmet) throw error;
    const { version, open, kept } = unmet;
    await ask(call, [{ wish: { ...wish, version }, open, kept }], name);
    approved.set(call, [...before, ...open]);
    return install([...new Set([...given, ...open])], version);
  }
}

const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];

/** What the host wants granted to this very pack. */
function unmetBy(error: unknown, name: string) {
  if (!(error instanceof ApiError) || error.code !== 'pack_runtime_requirement_unmet') return undefined;
  const { manifest, unmet, granted } = error.details ?? {};
  if (typeof manifest !== 'string' || !manifest.startsWith(`${name}@`)) return undefined;
  return { version: manifest.slice(name.length + 1), open: texts(unmet), kept: texts(granted) };
}

interface Question {
  readonly wish: Wish;
  /** Permissions that are not granted yet. */
  readonly open: readonly string[];
  readonly kept: readonly string[];
}

/**
 * Returns when everything that the packs ask for is granted. Only what was not granted before needs a word, and
 * nothing is granted by silence. `named` is the pack that the command line names.
 */
export async function approve(call: Call, wishes: readonly ProvedWish[], named?: string): Promise<void> {
  const grants = namedGrants(call, named);
  const questions: Question[] = [];
  for (const wish of wishes) questions.push(await questionOf(call.client, wish, grants.get(wish.name) ?? []));
  const open = questions.filter((question) => question.open.length > 0);
  if (open.length > 0) await ask(call, open, named);
}

/** A surface may be granted unasked: what code calls cannot always be determined. */
export function refuseNeedless({ name, version, requires }: Wish, given: readonly string[]): void {
  const needless = given.find((id) => !requires.includes(id) && !id.startsWith('host.'));
  if (needless === undefined) return;
  const asks = requires.length === 0 ? 'nothing' : requires.join(', ');
  throw new UsageError(`${name}@${version} does not ask for "${needless}". It asks for ${asks}.`);
}

async function questionOf(client: Client, wish: ProvedWish, given: readonly string[]): Promise<Question> {
  const { requires } = wish;
  refuseNeedless(wish, given);
  if (requires.length === 0) return { wish, open: [], kept: [] };
  const { added, kept } = grantDifference(await grantedBefore(client, wish), requires);
  return { wish, open: added.filter((id) => !given.includes(id)), kept };
}

/** Throws unless a person approves, which needs a terminal. */
export async function ask(
  { io }: Call,
  questions: readonly Question[],
  named: string | undefined,
): Promise<void> {
  for (const { wish, open, kept } of questions) {
    const more = kept.length > 0 ? 'more than before' : 'permission';
    io.stdout.write(`${wish.name}@${wish.version} asks for ${more}:\n`);
    printPermissions({ io }, open, '+');
    if (kept.length > 0) io.stdout.write(`  granted before: ${kept.join(', ')}\n`);
    printUndetermined({ io }, wish.undetermined);
  }
  if (!io.stdin.isTTY || !io.stdout.isTTY) {
    const flags = questions.map(({ wish, open }) => {
      const whose = wish.name === named ? '' : `${wish.name}=`;
      return `--grant ${whose}${open.join(',')}`;
    });
    throw new UsageError(`Nothing was installed. To grant it, add: ${flags.join(' ')}`);
  }
  const typed = (await io.stdin.ask('Grant this and install? [y/N] ', io.signal))?.trim().toLowerCase();
  if (typed !== 'y' && typed !== 'yes') throw new UsageError('Nothing was granted, and nothing installed.');
}
