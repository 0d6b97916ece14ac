/** Commits and claims that were kept and whose outcome stayed unknown to the host that made them. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { type CommitGroup, openPostgres, type Store, StoreError } from '@gantry/store';
import { freshDatabase } from '../../store/src/testing/postgres-server.ts';
import { apiTest } from './api/testing/api-test.ts';
import { node, workflow } from './testing/definitions.ts';

const act = (effects: number) => node('act', 'core.conformance.side-effect', { effects });
const WORKFLOWS = [
  workflow('acts', [act(3)]),
  workflow('parent', [node('child', 'core.subWorkflow', { workflowId: 'acts' })]),
  workflow('delayed', [node('wait', 'core.delay', { delayMs: 50 }), act(1)]),
];

const lost = (): StoreError => new StoreError('io', 'The answer was lost.', { outcome: 'unknown' });

type Fault = (group: CommitGroup) => boolean;

/** Does what is asked and then loses the answer, once for each fault. */
function forgetful(store: Store, faults: Fault[]): Store {
  let claims = 1;
  return {
    ...store,
    async commit(groups) {
      const results = await store.commit(groups);
      const at = faults.findIndex((fault) => groups.some(fault));
      if (at < 0) return results;
      faults.splice(at, 1);
      throw lost();
    },
    leases: {
      ...store.leases,
      async claimDue(...args) {
        const claimed = await store.leases.claimDue(...args);
        if (claimed.length > 0 && claims-- > 0) throw lost();
        return claimed;
      },
    },
  };
}

test('what was kept with an unknown outcome goes on, and happens once', async (t) => {
  const database = await freshDatabase();
  if ('skip' in database) {
    t.skip(database.skip);
    return;
  }
  const creates = (group: CommitGroup): boolean => group.some(({ kind }) => kind === 'createRun');
  const appends = (group: CommitGroup): boolean => group.some(({ kind }) => kind === 'append');
  const faults: Fault[] = [
    (group) => creates(group) && !appends(group),
    (group) => creates(group) && appends(group),
    ([write]) => write?.kind === 'claimInvocation',
    ([write]) => write?.kind === 'settleInvocation',
    (group) => appends(group) && !creates(group),
  ];
  const store = forgetful(await openPostgres({ url: database.url }), faults);
  const settings = { databaseUrl: database.url, masterKey: 'm'.repeat(64) };
  const host = await apiTest(t, { store, settings, workflows: WORKFLOWS });
  t.after(database.drop);
  const create = async (workflowId: string) => {
    const body = { workflowId };
    const headers = { 'idempotency-key': workflowId };
    const first = await host.post('/v1/runs', body, headers);
    if (first.statusCode === 201) return first.json().runId;
    assert.match(first.json().message, /unknown whether the change was made/);
    const again = await host.post('/v1/runs', body, headers);
    assert.equal(again.statusCode, 201, again.body);
    assert.equal(again.headers['openwop-idempotent-replay'], 'true');
    return again.json().runId;
  };
  const runIds = [await create('acts'), await create('parent'), await create('delayed')];
  for (const runId of runIds) assert.equal((await host.ended(runId)).status, 'completed', runId);
  assert.deepEqual(faults, []);
  const log = await readFile(path.join(host.dataDir, 'side-effects.log'), 'utf8');
  assert.equal(log.trim().split('\n').length, 3 + 3 + 1);
});
