/** Packs with newer versions. */
import { type OutdatedPack, outdated as standing } from '@gantry/packs';
import type { Action } from '../../actions.ts';
import { print } from '../../output.ts';
import { printable } from '../../style.ts';
import { requireRegistries } from './registries.ts';
import { readWorkspace } from './workspace.ts';

/** Warnings about the version in use. */
function marksOf({ yanked, deprecated, advisories, permissions }: OutdatedPack): string[] {
  return [
    ...advisories.map(
      ({ id, severity, fixedIn }) => `${id} (${severity}), fixed in ${fixedIn ?? 'no version yet'}`,
    ),
    ...(yanked ? [`yanked: ${yanked.reason ?? 'no reason given'}`] : []),
    ...(deprecated
      ? [`deprecated: ${deprecated.reason ?? deprecated.supersededBy ?? 'no reason given'}`]
      : []),
    ...(permissions.added.length > 0 ? [`asks for more: ${permissions.added.join(', ')}`] : []),
  ];
}

const isNews = (pack: OutdatedPack): boolean =>
  pack.wanted !== pack.current || pack.latest !== pack.current || marksOf(pack).length > 0;

const COLUMNS = {
  PACK: 'name',
  CURRENT: 'current',
  WANTED: 'wanted',
  LATEST: 'latest',
  MARKS: (pack: OutdatedPack) => marksOf(pack).join('; ') || '-',
} as const;

export const outdated: Action = {
  takes: '[--registry URL]',
  async act(call) {
    const { file, lock, roots } = await readWorkspace(call);
    const packs = await standing(lock, roots, await requireRegistries(call, file?.lock));
    const known = new Set(packs.map(({ name }) => name));
    const unknown = lock.packs.map(({ name }) => name).filter((name) => !known.has(name));
    const items = packs.filter(isNews);
    const none = lock.packs.length === 0 ? 'No packs yet.' : 'Everything is up to date.';
    print(call, { packs, unknown }, { items, columns: COLUMNS, none });
    if (call.args.flag('json')) return;
    if (items.some(({ current, wanted }) => current !== wanted))
      call.io.stdout.write('Move to what is wanted: gantry pack update\n');
    if (unknown.length > 0)
      call.io.stderr.write(`No registry here knows: ${unknown.map(printable).join(', ')}\n`);
  },
};
