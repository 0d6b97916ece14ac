/** What a pack may do is said in plain words, and somebody says yes to it. */
import { ApiError, type Client } from '@gantry/client';
import { describePermission, grantDifference, type PackManifest, requiresOf } from '@gantry/packs';
import type { Call } from '../../command.ts';
import { UsageError } from '../../io.ts';
import { printable } from '../../style.ts';

/** A version that is about to be installed, and what it asks for. */
export interface Wish {
  readonly name: string;
  readonly version: string;
  readonly requires: readonly string[];
}

/** What the command line grants, by pack. */
export type Grants = ReadonlyMap<string, readonly string[]>;

export const wishOf = (manifest: PackManifest): Wish => ({
  name: manifest.name,
  version: manifest.version,
  requires: requiresOf(manifest),
});

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

async function grantedBefore(client: Client, name: string): Promise<readonly string[]> {
  try {
    return (await client.packs.get(name)).grants[0]?.requires ?? [];
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return [];
    throw error;
  }
}

export function printPermissions({ io }: Pick<Call, 'io'>, ids: readonly string[], mark = ' '): void {
  const width = Math.max(...ids.map((id) => id.length));
  for (const id of ids)
    io.stdout.write(`${mark} ${id.padEnd(width)}  ${printable(describePermission(id))}\n`);
}

interface Question {
  readonly wish: Wish;
  /** What nobody has granted yet. */
  readonly open: readonly string[];
  readonly kept: readonly string[];
}

/**
 * Returns when everything that the packs ask for is granted. Only what was not granted before needs a word, and
 * nothing is granted by silence. `named` is the pack that the command line names.
 */
export async function approve(call: Call, wishes: readonly Wish[], named?: string): Promise<void> {
  const grants = namedGrants(call, named);
  const questions: Question[] = [];
  for (const wish of wishes) questions.push(await questionOf(call.client, wish, grants.get(wish.name) ?? []));
  const open = questions.filter((question) => question.open.length > 0);
  if (open.length > 0) await ask(call, open, named);
}

async function questionOf(client: Client, wish: Wish, given: readonly string[]): Promise<Question> {
  const { name, version, requires } = wish;
  const needless = given.find((id) => !requires.includes(id));
  if (needless !== undefined) {
    const asks = requires.length === 0 ? 'nothing' : requires.join(', ');
    throw new UsageError(`${name}@${version} does not ask for "${needless}". It asks for ${asks}.`);
  }
  if (requires.length === 0) return { wish, open: [], kept: [] };
  const { added, kept } = grantDifference(await grantedBefore(client, name), requires);
  return { wish, open: added.filter((id) => !given.includes(id)), kept };
}

/** Throws unless a person says yes; on no terminal nobody can. */
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
