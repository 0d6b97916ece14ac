/** What an operator reads of runs that fail. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createHost } from './host.ts';
import { processLog } from './redaction/process-log.ts';
import { createRedactions } from './redaction/redactions.ts';
import { readSettings } from './settings.ts';
import { node, workflow } from './testing/definitions.ts';
import { TEST_KEY, temporaryFolder } from './testing/host-process.ts';

const MINUTE = 60_000;
const three = workflow('three', [node('a', 'core.noop')]);
const needy = { ...three, version: '2.0.0', variables: [{ name: 'who', type: 'string', required: true }] };

async function loggingHost(t: TestContext) {
  const folder = await temporaryFolder();
  const env = { GANTRY_ADMIN_KEY: TEST_KEY, GANTRY_LOG: 'debug', GANTRY_PORT: '0' };
  const settings = { ...readSettings([], env), dataDir: folder.path, workflowsDir: `${folder.path}/none` };
  const lines: Record<string, unknown>[] = [];
  const log = processLog(createRedactions(), settings, {
    write: (line) => void lines.push(JSON.parse(line)),
  });
  let at = Date.parse('2027-01-01T00:00:00Z');
  const host = await createHost({ settings, log, now: () => at });
  await host.services.start();
  t.after(async () => {
    await host.stop();
    await folder.remove();
  });
  const headers = { authorization: `Bearer ${TEST_KEY}` };
  return {
    lines,
    post: async (url: string, payload: object) =>
      (await host.app.inject({ method: 'POST', url, payload, headers })).json(),
    get: (url: string) => host.app.inject({ url, headers }),
    async pass(ms: number) {
      at += ms;
      await host.services.schedules.tick();
    },
  };
}

test('a failed run, a schedule that cannot start one, and requests are lines with their ids', async (t) => {
  const { lines, post, get, pass } = await loggingHost(t);
  await post('/v1/host/gantry/workflows', workflow('bad', [node('x', 'core.fail')]));
  const { runId } = await post('/v1/runs', { workflowId: 'bad' });
  await get(`/v1/runs/${runId}/events/poll?timeout=10`);
  const failed = lines.find(({ msg }) => msg === 'run failed');
  assert.deepEqual([failed?.level, failed?.tenant, failed?.runId], ['warn', 'default', runId]);
  assert.ok(typeof failed?.code === 'string' && failed.code !== 'unknown', JSON.stringify(failed));
  assert.match(String(failed?.time), /^\d{4}-\d\d-\d\dT.*Z$/);
  const request = lines.find(({ msg, route }) => msg === 'request' && String(route).endsWith('/events/poll'));
  assert.deepEqual([request?.runId, request?.tenant], [runId, 'default']);
  assert.match(String(request?.requestId), /^[0-9a-f]{32}$/);

  await post('/v1/host/gantry/workflows', three);
  const { scheduleId } = await post('/v1/host/gantry/schedules', { workflowId: 'three', cron: '* * * * *' });
  await post('/v1/host/gantry/workflows', needy);
  await pass(MINUTE);
  const missed = lines.find(({ msg }) => msg === 'a schedule could not start its run');
  assert.deepEqual(
    [missed?.tenant, missed?.scheduleId, missed?.code],
    ['default', scheduleId, 'validation_error'],
  );
});
