import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommitPipeline, openSqlite } from '@gantry/store';
import type { CallRecord } from '@gantry/surfaces';
import { InvocationLog } from '../runtime/invocation-log.ts';
import { temporaryFolder } from '../testing/host-process.ts';
import { callJournal } from './call-journal.ts';

const PLACE = { tenant: 'acme', runId: 'run', nodeId: 'pay', ordinal: 0, providerKey: 'sql.host' };
const DONE: CallRecord = { method: 'sql.execute', fingerprint: 'f', ok: true, value: 1 };

test('a call whose end nobody knows is named, with what to do; one that may be repeated is', async (t) => {
  const folder = await temporaryFolder();
  const store = await openSqlite({ dataDir: folder.path });
  t.after(async () => {
    await store.close();
    await folder.remove();
  });
  const log = new InvocationLog(new CommitPipeline(store), store.records, Date.now);
  const journal = callJournal(log);
  // As a host does that dies before the answer
  await log.claim({ ...PLACE, fingerprint: 'f' });
  const call = { ...PLACE, method: 'sql.execute', fingerprint: 'f' };
  await assert.rejects(
    journal.perform({ ...call, idempotent: false }, () => assert.fail('acted again')),
    {
      code: 'effect_in_doubt',
      message: /node "pay" had called sql\.execute .*Check there whether it was done, then fork/,
    },
  );
  await assert.rejects(
    journal.perform({ ...call, fingerprint: 'other', idempotent: true }, () => assert.fail('acted again')),
    { code: 'effect_in_doubt' },
  );
  assert.deepEqual(await journal.perform({ ...call, idempotent: true }, async () => DONE), DONE);
  const again = journal.perform({ ...call, idempotent: false }, () => assert.fail('acted again'));
  assert.deepEqual(await again, DONE);
});
