/** The operator is told of data sources whose user may do more than nodes should. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import postgres from 'postgres';
import { freshDatabase } from '../../../../store/src/testing/postgres-server.ts';
import { freshFolder } from '../../testing/data-dir.ts';
import { openTestSurfaces } from '../../testing/surfaces.ts';

const PASSWORD = 'pass-word-of-the-test';
const ROLE = `gantry_test_role_${process.pid}`;
const found = await freshDatabase();

/** The same database as another user. */
const as = (url: string, username: string): string => {
  const address = new URL(url);
  Object.assign(address, { username, password: PASSWORD });
  return address.href;
};

if ('skip' in found) test('rights of data sources', { skip: found.skip });
else
  describe('rights of data sources', () => {
    const { url, drop } = found;
    const folder = freshFolder();
    const admin = postgres(url, { max: 1, onnotice: () => {} });
    after(async () => {
      await admin.unsafe(`drop role if exists ${ROLE}`);
      await admin.end();
      await drop();
      folder.remove();
    });

    test('health warns of a superuser by the name of its data source, until it has another user', async (t) => {
      await admin.unsafe(`create role ${ROLE} login password '${PASSWORD}'`);
      const source = { driver: 'postgres', tenants: ['acme'] };
      const file = join(folder.path, 'datasources.json');
      const datasources = [
        { ...source, id: 'crm', url },
        { ...source, id: 'shop', url: as(url, ROLE) },
      ];
      writeFileSync(file, JSON.stringify({ datasources }));
      const clock = { now: 0 };
      const backends = { datasources: file };
      const opened = await openTestSurfaces(folder.path, { backends, now: () => clock.now });
      t.after(opened.close);
      const look = async () => (await opened.health()).filter(({ capability }) => capability === 'sql');
      const served = (datasource: string) => ({
        capability: 'sql',
        datasource,
        backend: 'postgres',
        state: 'up',
      });
      const text = (id: string, may: string): string =>
        `GANTRY_DATASOURCES: Data source "${id}": its user ${may}, so that a node could reach beyond the database. ` +
        'Give it a user that may do what nodes should and nothing else.';
      const crm = { ...served('crm'), warning: text('crm', 'is a superuser') };
      assert.deepEqual(await look(), [{ ...served('primary'), backend: 'embedded' }, crm, served('shop')]);
      clock.now = 60_000;
      await admin.unsafe(`grant pg_read_server_files to ${ROLE}`);
      const shop = { ...served('shop'), warning: text('shop', 'is a member of pg_read_server_files') };
      assert.deepEqual((await look()).slice(1), [crm, shop]);
    });
  });
