/** A host whose servers are not there when it starts. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { after, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '@gantry/protocol';
import { absentServer } from '../../../surfaces/src/testing/absent-server.ts';
import { openTestPostgres, postgresSkip } from '../../../surfaces/src/testing/postgres.ts';
import { type PackTest, packTest } from '../packs/testing/pack-test.ts';
import { node, workflow } from '../testing/definitions.ts';
import { TEST_KEY } from '../testing/host-process.ts';

const TYPE = 'vendor.acme.count';
const GANTRY = fileURLToPath(new URL('../../../cli/bin/gantry.js', import.meta.url));

let postgres: ReturnType<typeof openTestPostgres> | null = null;
after(async () => (await postgres)?.close());

async function hostWithoutPostgres(t: TestContext) {
  postgres ??= openTestPostgres();
  const server = await absentServer((await postgres).url);
  const api = await packTest(t, { settings: { backends: { kv: server.url } } });
  t.after(server.close);
  return { server, api };
}

async function counts(api: PackTest): Promise<JsonObject> {
  return api.ended(await api.start('count'));
}

/** What `gantry doctor` says of storage. */
async function doctor(url: string): Promise<JsonObject[]> {
  const child = spawn(process.execPath, [GANTRY, 'doctor', '--json'], {
    env: { ...process.env, GANTRY_URL: url, GANTRY_API_KEY: TEST_KEY },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const findings: JsonObject[] = JSON.parse(await text(child.stdout));
  return findings.filter(({ name }) => name === 'storage');
}

test('a host starts without its PostgreSQL, says so, and uses it when it is there', {
  skip: postgresSkip,
}, async (t) => {
  const { server, api } = await hostWithoutPostgres(t);
  const url = await api.host.app.listen({ host: '127.0.0.1', port: 0 });
  assert.equal((await api.get('/.well-known/openwop')).json().kvStorage.supported, true);
  await api.install({
    nodes: {
      [TYPE]: {
        role: 'side-effect',
        body: `
          await ctx.storage.cache.put({ key: 'k', value: 1, ttlSeconds: 60 });
          return await ctx.storage.kv.atomicIncrement({ key: 'n' });`,
      },
    },
  });
  await api.registered(workflow('count', [node('a', TYPE)]));

  const failed = await counts(api);
  assert.equal(failed.status, 'failed');
  const { code, message } = failed.error as { code: string; message: string };
  assert.equal(code, 'storage_unavailable');
  assert.match(message, /^PostgreSQL cannot be reached \(ECONNREFUSED\)/);
  const { backends } = (await api.get('/v1/host/gantry/surfaces')).json();
  const broken = backends.filter(({ state }: JsonObject) => state !== 'up');
  assert.deepEqual(
    broken.map(({ capability, backend, state }: JsonObject) => [capability, backend, state]),
    [['kvStorage', 'postgres', 'unreachable']],
  );
  const { body: metrics } = await api.get('/v1/host/gantry/metrics');
  assert.match(
    metrics,
    /^gantry_backends\{capability="kvStorage",backend="postgres",state="unreachable"\} 1$/m,
  );
  const [finding] = await doctor(url);
  assert.equal(finding?.level, 'fail');
  assert.match(
    String(finding?.detail),
    /^kvStorage \(postgres\): GANTRY_KV: PostgreSQL at .* cannot be reached/,
  );
  assert.match(String(finding?.next), /^Start the server/);

  await server.appear();
  const counted = await counts(api);
  assert.deepEqual([counted.status, counted.outputs], ['completed', { value: 1, previous: 0 }]);
  assert.equal((await doctor(url))[0]?.level, 'ok');
});

test('a node whose server is away for a while is tried again as its settings say', {
  skip: postgresSkip,
}, async (t) => {
  const { server, api } = await hostWithoutPostgres(t);
  await api.install({
    nodes: {
      [TYPE]: { role: 'side-effect', body: `return ctx.storage.kv.atomicIncrement({ key: 'retried' });` },
    },
  });
  await api.registered(
    workflow('count', [node('a', TYPE, {}, { settings: { maxRetries: 100, backoffMs: 100 } })]),
  );
  const runId = await api.start('count');
  for (let [last, isTried] = [-1, false]; !isTried; ) {
    const cursor = last < 0 ? '' : `&lastSequence=${last}`;
    const polled = (await api.get(`/v1/runs/${runId}/events/poll?timeout=60${cursor}`)).json();
    assert.equal(polled.isTerminal, false, JSON.stringify(polled));
    last = polled.lastEventSeq;
    isTried = polled.events.some(({ type }: JsonObject) => type === 'node.retried');
  }
  await server.appear();
  const counted = await api.ended(runId);
  assert.deepEqual([counted.status, counted.outputs], ['completed', { value: 1, previous: 0 }]);
});
