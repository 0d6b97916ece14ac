/** What a pack may do is said in plain words, and somebody says yes to it. */
import { ApiError, type Client } from '@gantry/client';
import { describePermission, grantDifference, type PackManifest, requiresOf } from '@gantry/packs';
import type { Call } from '../../command.ts';
import { UsageError } from '../../io.ts';
import { printable } from '../../style.ts';
import { packLabel } from './source.ts';

/** A comma or another `--grant` between two of them. */
const namedGrants = ({ args }: Call): string[] =>
  args.list('grant').flatMap((list) => list.split(',').filter((word) => word !== ''));

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

/** Answers what to grant. Only what was not granted before needs a word; nothing is granted by silence. */
export async function approvedGrants(call: Call, manifest: PackManifest): Promise<readonly string[]> {
  const requires = requiresOf(manifest);
  const named = namedGrants(call);
  const needless = named.find((id) => !requires.includes(id));
  if (needless !== undefined) {
    const asks = requires.length === 0 ? 'nothing' : requires.join(', ');
    throw new UsageError(`${packLabel(manifest)} does not ask for "${needless}". It asks for ${asks}.`);
  }
  if (requires.length === 0) return [];
  const { added, kept } = grantDifference(await grantedBefore(call.client, manifest.name), requires);
  const open = added.filter((id) => !named.includes(id));
  if (open.length > 0) await ask(call, manifest, { open, kept });
  return requires;
}

async function ask(
  { io }: Call,
  manifest: PackManifest,
  { open, kept }: { open: readonly string[]; kept: readonly string[] },
): Promise<void> {
  io.stdout.write(
    `${packLabel(manifest)} asks for ${kept.length > 0 ? 'more than before' : 'permission'}:\n`,
  );
  printPermissions({ io }, open, '+');
  if (kept.length > 0) io.stdout.write(`  granted before: ${kept.join(', ')}\n`);
  if (!io.stdin.isTTY || !io.stdout.isTTY) {
    throw new UsageError(`Nothing was installed. To grant it, add: --grant ${open.join(',')}`);
  }
  const typed = (await io.stdin.ask('Grant this and install? [y/N] ', io.signal))?.trim().toLowerCase();
  if (typed !== 'y' && typed !== 'yes') throw new UsageError('Nothing was granted, and nothing installed.');
}
