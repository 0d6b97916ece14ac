/** The differences between two sets of versions. */
import { OpenwopError } from '@gantry/protocol';
import type { Call } from '../../command.ts';
import { printable } from '../../style.ts';

export interface Version {
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
}

export type Change =
  | { readonly kind: 'added'; readonly name: string; readonly version: string }
  | { readonly kind: 'removed'; readonly name: string; readonly version: string }
  | { readonly kind: 'moved'; readonly name: string; readonly from: string; readonly version: string };

/** Sorted by name. */
export function changesBetween(before: readonly Version[], after: readonly Version[]): Change[] {
  const old = new Map(before.map((pack) => [pack.name, pack.version]));
  const next = new Set(after.map(({ name }) => name));
  const gone = before.filter(({ name }) => !next.has(name));
  const changes = [
    ...gone.map(({ name, version }): Change => ({ kind: 'removed', name, version })),
    ...after.flatMap((pack) => changeOf(old.get(pack.name), pack)),
  ];
  return changes.sort((left, right) => (left.name < right.name ? -1 : 1));
}

function changeOf(from: string | undefined, { name, version }: Version): Change[] {
  if (from === undefined) return [{ kind: 'added', name, version }];
  return from === version ? [] : [{ kind: 'moved', name, from, version }];
}

/** The content of a version never changes; other content from a registry is refused. */
export function refuseReplaced(before: readonly Version[], after: readonly Version[]): void {
  for (const { name, version, integrity } of after) {
    const old = before.find((pack) => pack.name === name && pack.version === version);
    if (!old || old.integrity === integrity) continue;
    throw new OpenwopError('pack_integrity_mismatch', {
      message: `${name}@${version} is locked as ${old.integrity}, and the registry now has ${integrity}. Find out why; to accept the new content, delete the entry from the lockfile.`,
    });
  }
}

const LINES = {
  added: { mark: '+', colour: 'green' },
  removed: { mark: '-', colour: 'red' },
  moved: { mark: '~', colour: 'yellow' },
} as const;

export function printChange({ io, style }: Pick<Call, 'io' | 'style'>, change: Change): void {
  const { mark, colour } = LINES[change.kind];
  const versions = change.kind === 'moved' ? `${change.from} → ${change.version}` : change.version;
  io.stdout.write(`${style(colour, printable(`${mark} ${change.name} ${versions}`))}\n`);
}
