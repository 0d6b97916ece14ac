/** What calls of a run have on record is deleted with the run, whatever keeps it. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { BackendSettings } from './open-port.ts';
import { freshFolder } from './testing/data-dir.ts';
import { openTestPostgres, postgresSkip } from './testing/postgres.ts';
import { openTestSurfaces } from './testing/surfaces.ts';
import { callGateOf, nodeOf } from './testing/test-call-gate.ts';

/** At a place that is on record, another id would be refused. */
const callsWith = (id: string) =>
  [
    ['storage.kv.atomicIncrement', { key: 'n' }],
    ['db.vector.upsert', { collection: 'c', vectors: [{ id, embedding: [1, 2] }] }],
    ['db.search.index', { index: 'i', docs: [{ id, fields: { text: 'words' } }] }],
  ] as const;

async function forgets(t: TestContext, backends: BackendSettings): Promise<void> {
  const folder = freshFolder();
  t.after(folder.remove);
  const open = async () => {
    const opened = await openTestSurfaces(folder.path, { backends });
    t.after(opened.close);
    return opened;
  };
  /** How often the node's increment was carried out; a repeat of a call on record is not. */
  const count = async (opened: Awaited<ReturnType<typeof open>>, runId: string, id = 'a') => {
    const call = nodeOf(callGateOf(opened.surfaces), { runId });
    const answers: unknown[] = [];
    for (const [path, input] of callsWith(id)) answers.push(await call(path, input));
    return (answers[0] as { value: number }).value;
  };
  const before = await open();
  assert.deepEqual([await count(before, 'run-1'), await count(before, 'run-10')], [1, 2]);
  assert.equal(await count(before, 'run-1'), 1, 'on record');
  await before.close();
  const opened = await open();
  await opened.forgetRun('acme', 'run-1');
  await opened.forgetRun('nobody', 'run-10');
  assert.deepEqual([await count(opened, 'run-10'), await count(opened, 'run-1', 'b')], [2, 3]);
}

test('in the data folder', async (t) => {
  await forgets(t, {});
});

test('in PostgreSQL', { skip: postgresSkip }, async (t) => {
  const { url, close } = await openTestPostgres();
  t.after(close);
  await forgets(t, { kv: url });
});
