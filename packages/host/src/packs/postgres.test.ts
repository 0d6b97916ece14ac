/** Two hosts on one database: what one installs the other runs, from the archive in the store. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freshDatabase } from '../../../store/src/testing/postgres-server.ts';
import { node, workflow } from '../testing/definitions.ts';
import { packTest } from './testing/pack-test.ts';

const TYPE = 'vendor.acme.work';

test('a pack is installed here and run there, and two installs at once are one', async (t) => {
  const database = await freshDatabase();
  if ('skip' in database) {
    t.skip(database.skip);
    return;
  }
  const open = () => packTest(t, { settings: { databaseUrl: database.url, masterKey: 'b'.repeat(64) } });
  const [first, second] = [await open(), await open()];
  t.after(database.drop);
  const pack = { nodes: { [TYPE]: { body: 'return { done: true };' } } };
  await Promise.allSettled([first.install(pack), second.install(pack)]);
  assert.equal((await second.get('/v1/host/gantry/packs')).json().packs.length, 1);
  await first.registered(workflow('one', [node('a', TYPE)]));
  for (const api of [second, first])
    assert.deepEqual((await api.ended(await api.start('one'))).outputs, { done: true });
  assert.equal(
    (await second.get('/v1/host/gantry/packs/vendor.acme.tools/receipts')).json().receipts.length,
    1,
  );
});
