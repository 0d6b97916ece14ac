/** A command and the clock meet at the same run: one wins, the other is not lost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openSqlite, type Store } from '@gantry/store';
import { node, workflow } from '../testing/definitions.ts';
import { temporaryFolder } from '../testing/host-process.ts';
import { testHost } from '../testing/test-host.ts';

const delayed = workflow('delayed', [node('wait', 'core.delay', { delayMs: 3_600_000 })]);
const headers = { 'content-type': 'application/json' };

/** A store in which each run is claimed right after it was first read, as the clock would claim a due one. */
function claimingStore(real: Store): Store {
  let epoch = 0;
  const claimed = new Set<string>();
  return {
    ...real,
    leases: {
      ...real.leases,
      async acquire(...args) {
        epoch = await real.leases.acquire(...args);
        return epoch;
      },
    },
    runs: {
      ...real.runs,
      async load(tenant, runId) {
        const loaded = await real.runs.load(tenant, runId);
        if (loaded && !claimed.has(runId)) {
          claimed.add(runId);
          const due = await real.leases.claimDue(epoch, Number.MAX_SAFE_INTEGER, 1_000);
          assert.ok(due.some((key) => key.runId === runId));
        }
        return loaded;
      },
    },
  };
}

test('a command whose run is claimed between reading and writing is carried out all the same', async (t) => {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const store = claimingStore(await openSqlite({ dataDir: folder.path }));
  const host = await testHost(t, { workflows: [delayed], store });
  const created = await host.request({
    method: 'POST',
    url: '/v1/runs',
    payload: '{"workflowId":"delayed"}',
    headers,
  });
  const { runId } = created.json();
  const cancelled = await host.request({ method: 'POST', url: `/v1/runs/${runId}/cancel` });
  assert.equal(cancelled.statusCode, 200, cancelled.body);
  assert.deepEqual(cancelled.json(), { runId, status: 'cancelled' });
});

test('a run that another process is working on is left to it', async (t) => {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const real = await openSqlite({ dataDir: folder.path });
  const load: Store['runs']['load'] = async (...args) => {
    const loaded = await real.runs.load(...args);
    return loaded && { ...loaded, row: { ...loaded.row, owner: 1_000_000 } };
  };
  const host = await testHost(t, { workflows: [delayed], store: { ...real, runs: { ...real.runs, load } } });
  const payload = '{"workflowId":"delayed"}';
  const created = await host.request({ method: 'POST', url: '/v1/runs', payload, headers });
  const { runId } = created.json();
  const cancelled = await host.request({ method: 'POST', url: `/v1/runs/${runId}/cancel` });
  assert.equal(cancelled.statusCode, 503, cancelled.body);
  assert.equal(cancelled.headers['retry-after'], '1');
  assert.equal((await host.request({ url: `/v1/runs/${runId}` })).json().status, 'running');
});
