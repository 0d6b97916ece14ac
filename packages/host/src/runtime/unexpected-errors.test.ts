/** Exceptions of the host while it works on a node: they end, and lose nothing of others. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { openPostgres, openSqlite, type Store, StoreError } from '@gantry/store';
import { apiTest } from '../api/testing/api-test.ts';
import type { Settings } from '../settings.ts';
import { node, workflow } from '../testing/definitions.ts';
import { onEachDatabase } from '../testing/each-database.ts';

const asks = workflow('asks', [node('ask', 'core.ai.callPrompt', { provider: 'scripted', prompt: 'Hello' })]);

const openStore = ({ databaseUrl: url, dataDir = '' }: Partial<Settings>): Promise<Store> =>
  url === undefined ? openSqlite({ dataDir }) : openPostgres({ url });

/** A host whose nodes fail at a read as long as there are errors left. */
async function faultyHost(t: TestContext, settings: Partial<Settings>, errors: Error[], options = {}) {
  const store = await openStore(settings);
  const records: Store['records'] = {
    ...store.records,
    async invocation(...place) {
      const error = errors.shift();
      if (error) throw error;
      return store.records.invocation(...place);
    },
  };
  return apiTest(t, { settings, store: { ...store, records }, ...options });
}

const bugs = (count: number): Error[] =>
  Array.from({ length: count }, () => new TypeError('x is not a function'));

onEachDatabase(
  'a node that throws three times in a row fails, also across a restart',
  async (t, settings) => {
    const errors = bugs(9);
    const first = await faultyHost(t, settings, errors, { workflows: [asks] });
    const runId = await first.start('asks');
    while (errors.length > 7) await delay(5);
    await first.host.stop();
    const second = await faultyHost(t, settings, errors, { workflows: [] });
    const { status, error } = await second.ended(runId);
    assert.deepEqual([status, Object(error).code, errors.length], ['failed', 'internal_error', 6]);
    assert.match(
      Object(error).message,
      /failed 3 times in a row at this node \(TypeError: x is not a function\)/,
    );
  },
);

onEachDatabase('what may go well another time is not counted', async (t, settings) => {
  const away = [1, 2, 3].map(() => new StoreError('io', 'The database cannot be reached.'));
  const host = await faultyHost(t, settings, away, { workflows: [asks] });
  assert.equal((await host.ended(await host.start('asks'))).status, 'completed');
});

onEachDatabase('what the store refuses to write fails its node, and nothing else', async (t, settings) => {
  const store = await openStore(settings);
  const isRefused = (write: Parameters<Store['commit']>[0][number][number]): boolean =>
    write.kind === 'append' &&
    write.events.some(({ type, nodeId }) => type === 'node.completed' && nodeId === 'refused');
  const commit: Store['commit'] = async (groups) => {
    if (groups.some((group) => group.some(isRefused)))
      throw new StoreError('rejected', 'It is not an integer.');
    return store.commit(groups);
  };
  const config = { provider: 'scripted', prompt: 'Hello' };
  const refused = workflow('refused', [node('refused', 'core.ai.callPrompt', config)]);
  const host = await apiTest(t, { settings, store: { ...store, commit }, workflows: [refused, asks] });
  const runs = await Promise.all(['refused', 'asks', 'asks'].map((id) => host.start(id)));
  const [failed, ...others] = await Promise.all(runs.map((runId) => host.ended(runId)));
  assert.equal(Object(failed!.error).code, 'internal_error');
  assert.match(Object(failed!.error).message, /It is not an integer/);
  assert.deepEqual(
    others.map(({ status }) => status),
    ['completed', 'completed'],
  );
});
