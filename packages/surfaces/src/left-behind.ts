/** Detects data that the host kept in its data folder before `DATABASE_URL` was set, and no longer reads. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** All other ports share `surfaces.db`. */
const PLACES: Readonly<Record<string, string>> = { vectors: 'retrieval.db', search: 'search' };

/** A warning for the operator; null when there is no such data. */
export function leftBehind(port: string, setting: string, dataDir: string): string | null {
  const place = PLACES[port] ?? 'surfaces.db';
  const path = join(dataDir, place);
  if (!existsSync(path) || !(port === 'search' ? readdirSync(path).length > 0 : hasData(path, port)))
    return null;
  return (
    `the data folder still has data of it from before this was set (${place}). It was not moved, and packs do not see ` +
    `it. To go on with it set ${setting}=data-folder; to give it up delete ${place}.`
  );
}

function hasData(file: string, area: string): boolean {
  try {
    using database = new DatabaseSync(file, { readOnly: true });
    return database.prepare('select 1 from usage where area = ? and bytes > 0').get(area) !== undefined;
  } catch {
    // Another version, or damaged: there is data
    return true;
  }
}
