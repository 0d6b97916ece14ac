/** Two hosts on one database: a tick is evaluated by one of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freshDatabase } from '../../../store/src/testing/postgres-server.ts';
import { apiTest, three } from '../api/testing/api-test.ts';
import { node, workflow } from '../testing/definitions.ts';
import { TEST_KEY } from '../testing/host-process.ts';

const URL = '/v1/host/gantry/heartbeats';
const INTERVAL_MS = 60_000;

const inbox = workflow('inbox', [
  node(
    'look',
    'core.identity',
    {},
    { inputs: { state: { type: 'static', value: { unread: 3 } }, enqueue: { type: 'static', value: true } } },
  ),
]);

test('hosts that tick at once evaluate once and act once', async (t) => {
  const database = await freshDatabase();
  if ('skip' in database) {
    t.skip(database.skip);
    return;
  }
  const clock = { at: Date.now() };
  const open = () =>
    apiTest(t, {
      workflows: [inbox, three],
      now: () => clock.at,
      settings: { databaseUrl: database.url, masterKey: 'b'.repeat(64) },
    });
  const [first, second] = [await open(), await open()];
  t.after(database.drop);
  const wanted = { workflowId: 'inbox', intervalSec: 60, enqueue: { workflowId: 'three' } };
  const { heartbeatId } = (await first.post(URL, wanted)).json();
  const settled = async () => {
    for (;;) {
      const { evaluatingRunId, lastTick } = (await first.get(`${URL}/${heartbeatId}`)).json();
      if (evaluatingRunId === undefined) return lastTick;
      await first.ended(evaluatingRunId);
    }
  };
  for (const changed of [true, false, false]) {
    clock.at += INTERVAL_MS;
    await Promise.all([first, second].map(({ host }) => host.services.heartbeats.tick()));
    assert.equal((await settled()).evaluated.changed, changed);
  }
  const runsOf = async (workflowId: string) =>
    (await second.get(`/v1/host/gantry/runs?workflowId=${workflowId}`)).json().runs.length;
  assert.deepEqual([await runsOf('inbox'), await runsOf('three')], [3, 1]);
  const { ticks } = (await second.get(`${URL}/${heartbeatId}/ticks`)).json();
  assert.equal(ticks.length, 3);

  const url = `${await second.host.app.listen({ port: 0 })}${URL}/${heartbeatId}/events`;
  const headers = { authorization: `Bearer ${TEST_KEY}`, 'last-event-id': '1' };
  const stream = (await fetch(url, { headers })).body!.pipeThrough(new TextDecoderStream());
  let text = '';
  for await (const chunk of stream) {
    text += chunk;
    // Once the second host follows it, the first one ticks
    if (text.includes('id: 4\n') && !text.includes('id: 6\n')) {
      clock.at += INTERVAL_MS;
      await first.host.services.heartbeats.tick();
    }
    if (text.includes('id: 6\n')) break;
  }
  assert.equal(text.match(/^event: heartbeat\.evaluated$/gm)?.length, 3);
});
