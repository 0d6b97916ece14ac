/** The packs that the operator's settings name, installed at every start for every tenant. */
import { stat } from 'node:fs/promises';
import { type Root, writeArchive } from '@gantry/packs';
import { SettingsError } from '../settings.ts';
import { SHARED } from '../workflows/shared.ts';
import { endWrites } from './grants.ts';
import { BY_SETTING, installNamed, type NamedPack, type NamedPacksOptions } from './named-packs.ts';
import { packKey } from './pack-record.ts';

export interface ListedPacksOptions extends NamedPacksOptions {
  readonly listed: readonly string[];
}

const NAMED = /^((?:core|vendor|community|private|local)(?:\.[A-Za-z0-9_-]+)+)(?:@(.+))?$/;

/** What cannot be installed stops the start: the operator asked for it by name. */
export async function installListed(options: ListedPacksOptions): Promise<void> {
  const { listed } = options;
  const roots = listed.flatMap((item) => rootOf(item) ?? []);
  const kept: NamedPack[] = [];
  for (const folder of listed.filter((item) => !rootOf(item)))
    kept.push(await told(folder, () => installFolder(options, folder)));
  const names = roots.map(({ name }) => name).join(', ');
  kept.push(...(await told(names, () => installNamed(options, roots))));
  await retire(options, kept);
}

/** `vendor.acme.crm@^1.2`; without a range any version. A folder of such a name is written `./name`. */
function rootOf(item: string): Root | undefined {
  const [, name, range = '*'] = NAMED.exec(item) ?? [];
  return name === undefined ? undefined : { name, range, requestedBy: 'GANTRY_PACKS' };
}

async function told<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new SettingsError(`GANTRY_PACKS: ${what}: ${error instanceof Error ? error.message : error}`);
  }
}

async function installFolder({ install, log }: ListedPacksOptions, folder: string): Promise<NamedPack> {
  const found = await stat(folder).catch(() => null);
  if (!found?.isDirectory())
    throw new SettingsError('it is neither a folder nor the name of a pack, such as vendor.acme.crm@^1.2.');
  const { bytes } = await writeArchive(folder);
  const request = { tenant: SHARED, archive: bytes, source: 'folder', development: true } as const;
  const { record, changed } = await install({ ...request, grant: 'all', by: BY_SETTING });
  const { name, version, requires, warnings } = record;
  log.info({ pack: `${name}@${version}`, changed, granted: requires, warnings }, 'pack installed');
  return { name, version, outcome: 'installed' };
}

/**
 * The settings are what every tenant has: other versions and other packs leave, so that the listed version is the
 * one that serves. Where the listed version was left out, the one before goes on serving.
 */
async function retire(
  { store, records, now, log }: ListedPacksOptions,
  kept: readonly NamedPack[],
): Promise<void> {
  for (const { record } of await records.installed(SHARED)) {
    const { name, version, installedBy } = record;
    const stays = kept.some(
      (one) => one.name === name && (one.version === version || one.outcome === 'left out'),
    );
    if (stays || installedBy !== BY_SETTING) continue;
    const entry = await records.entry(packKey(SHARED, name, version));
    if (!entry) continue;
    // Another process that removes it at the same time wants the same.
    const isLast = (await records.versionsOf(SHARED, name)).length === 1;
    const ended = isLast ? endWrites(await records.grant(SHARED, name), now()) : [];
    await store.commit([[{ kind: 'deleteEntry', key: entry, expectedVersion: entry.version }, ...ended]]);
    log.info({ pack: `${name}@${version}` }, 'pack removed: GANTRY_PACKS no longer names it');
  }
}
