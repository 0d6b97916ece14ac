/** A test of a whole host on each database. */
import { type TestContext, test } from 'node:test';
import { freshDatabase } from '../../../store/src/testing/postgres-server.ts';
import type { Settings } from '../settings.ts';
import { temporaryFolder } from './host-process.ts';

interface Place {
  readonly settings: Partial<Settings>;
  end(): Promise<void>;
}

const PLACES: { readonly [name: string]: () => Promise<Place | { skip: string }> } = {
  async SQLite() {
    const folder = await temporaryFolder();
    return { settings: { dataDir: `${folder.path}/data` }, end: folder.remove };
  },
  async PostgreSQL() {
    const database = await freshDatabase();
    if ('skip' in database) return database;
    return { settings: { databaseUrl: database.url, masterKey: 'b'.repeat(64) }, end: database.drop };
  },
};

/** All hosts that the test opens with `settings` share one database. */
export function onEachDatabase(
  title: string,
  body: (t: TestContext, settings: Partial<Settings>) => Promise<void>,
): void {
  for (const [name, open] of Object.entries(PLACES))
    test(`${name}: ${title}`, async (t) => {
      const place = await open();
      if ('skip' in place) {
        t.skip(place.skip);
        return;
      }
      // Hooks run in the order in which they were added: hosts stop before their database goes
      await body(t, place.settings).finally(() => t.after(place.end));
    });
}
