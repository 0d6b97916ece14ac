/** The packs that the operator's settings name: folders, installed at every start for every tenant. */
import { stat } from 'node:fs/promises';
import { writeArchive } from '@gantry/packs';
import type { Logger } from 'pino';
import { SettingsError } from '../settings.ts';
import { SHARED } from '../workflows/shared.ts';
import type { Installed, InstallRequest } from './installer.ts';

const BY_SETTING = 'setting:GANTRY_PACKS';

export interface ListedPacksOptions {
  readonly listed: readonly string[];
  readonly install: (request: InstallRequest) => Promise<Installed>;
  readonly log: Logger;
}

/** A folder that cannot be installed stops the start: the operator asked for it by name. */
export async function installListed({ listed, install, log }: ListedPacksOptions): Promise<void> {
  for (const folder of listed) {
    await requireFolder(folder);
    try {
      const { bytes } = await writeArchive(folder);
      const request = { tenant: SHARED, archive: bytes, source: 'folder', development: true } as const;
      const { record, changed } = await install({ ...request, grant: 'all', by: BY_SETTING });
      const { name, version, requires, warnings } = record;
      log.info({ pack: `${name}@${version}`, changed, granted: requires, warnings }, 'pack installed');
    } catch (error) {
      throw new SettingsError(`GANTRY_PACKS: ${folder}: ${error instanceof Error ? error.message : error}`);
    }
  }
}

async function requireFolder(name: string): Promise<void> {
  const found = await stat(name).catch(() => null);
  if (found?.isDirectory()) return;
  throw new SettingsError(
    `GANTRY_PACKS: ${name} is not a folder. Packs by name need a registry, which this version does not ask; ` +
      'install their archives with `gantry pack install`.',
  );
}
