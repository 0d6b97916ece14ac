/** The same host on PostgreSQL: one process after another, and two at once. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { createClient } from '@gantry/client';
import { freshDatabase } from '../../store/src/testing/postgres-server.ts';
import { node, workflow } from './testing/definitions.ts';
import { startHostProcess, TEST_KEY, temporaryFolder } from './testing/host-process.ts';

const RUNS = 30;
const DEFINITIONS = [
  workflow('three', [node('a', 'core.noop'), node('b', 'core.noop'), node('c', 'core.noop')]),
  workflow('delayed', [node('wait', 'core.delay', { delayMs: 300 }), node('after', 'core.noop')]),
  workflow('effects', [node('act', 'core.conformance.side-effect', { effects: 5, idempotent: true })]),
];

test('a host on PostgreSQL is killed, and another on the same database finishes its runs', async (t) => {
  const database = await freshDatabase();
  if ('skip' in database) {
    t.skip(database.skip);
    return;
  }
  const folder = await temporaryFolder();
  t.after(async () => {
    await database.drop();
    await folder.remove();
  });
  for (const definition of DEFINITIONS) {
    await writeFile(path.join(folder.path, `${definition.id}.json`), JSON.stringify(definition));
  }
  const start = async (name: string) => {
    const options = { dataDir: path.join(folder.path, name), workflowsDir: folder.path };
    const host = await startHostProcess({
      ...options,
      env: { GANTRY_DATABASE_URL: database.url, GANTRY_MASTER_KEY: 'm'.repeat(32) },
    });
    return { host, client: createClient({ baseUrl: host.url, apiKey: TEST_KEY }) };
  };

  const first = await start('first');
  const second = await start('second');
  const runIds: string[] = [];
  for (let i = 0; i < RUNS; i++) {
    const { id } = DEFINITIONS[i % DEFINITIONS.length]!;
    runIds.push((await first.client.runs.create({ workflowId: id })).runId);
  }
  await first.host.kill();
  for (const runId of runIds) {
    assert.equal((await second.client.runs.wait(runId)).status, 'completed');
    const { events } = await second.client.runs.poll(runId);
    assert.deepEqual(
      events.map((event) => event.sequence),
      events.map((_, index) => index),
    );
  }
  assert.equal(await second.host.stop(), 0);
});
