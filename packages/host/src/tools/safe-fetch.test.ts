/** `ctx.http.safeFetch` and `fetch` of packs through the front door, to a server at a public address. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAllowList } from '@gantry/egress';
import type { JsonObject, RunEventDoc } from '@gantry/protocol';
import { openSqlite, type Store, type Write } from '@gantry/store';
import { assertPublic } from '../api/testing/api-test.ts';
import { type PackTest, packTest } from '../packs/testing/pack-test.ts';
import { node, workflow } from '../testing/definitions.ts';
import { temporaryFolder } from '../testing/host-process.ts';
import { onePerFile } from '../testing/one-per-file.ts';
import {
  onPublicNetwork,
  PUBLIC_ADDRESS,
  publicServer,
  trustPublicServer,
} from '../testing/public-network.ts';

const TYPE = 'vendor.acme.work';
const METADATA = 'http://169.254.169.254/latest/meta-data/';

interface Requests {
  readonly origin: string;
  readonly seen: string[];
  /** Of the last request: `authorization` and `x-api-key`. */
  identity: string[];
  /** What the server holds back until it is let go. */
  held: Promise<void>;
}

interface Opened extends PackTest {
  readonly server: Requests;
  /** Runs the body as a node, and answers the run, what its log says of tools, and how many commits it took. */
  run(
    body: string,
    requires?: readonly string[],
  ): Promise<{ run: JsonObject; pairs: RunEventDoc[]; commits: number }>;
}

const isOfRun = ({ kind }: Write): boolean =>
  kind === 'createRun' || kind === 'append' || kind.endsWith('Invocation');

const isToolEvent = ({ type }: RunEventDoc): boolean => type.startsWith('agent.tool');

const opened = onePerFile(async (t): Promise<Opened> => {
  trustPublicServer();
  const seen: string[] = [];
  const requests = { seen, held: Promise.resolve(), identity: [] as string[] };
  const origin = await publicServer(t, async (request, response) => {
    seen.push(`${request.method} ${request.url}`);
    requests.identity = [request.headers.authorization, request.headers['x-api-key']].map(String);
    await requests.held;
    response.setHeader('x-note', 'hi').end(JSON.stringify({ number: seen.length }));
  });
  const folder = await temporaryFolder();
  t.after(folder.remove);
  let commits = 0;
  const inner = await openSqlite({ dataDir: folder.path });
  const store: Store = {
    ...inner,
    commit: (groups) => {
      commits += groups.filter((group) => group.some(isOfRun)).length;
      return inner.commit(groups);
    },
  };
  const settings = { egressAllow: readAllowList('raw-fetch=https://127.0.0.0/8:*') };
  const api = await packTest(t, { store, settings });
  let installs = 0;
  return {
    ...api,
    server: Object.assign(requests, { origin }),
    async run(body, requires = []) {
      const nodes = { [TYPE]: { body, role: 'side-effect' } };
      const grant = requires.length > 0 ? `?grant=${requires.join()}` : '';
      await api.install({ version: `1.0.${installs++}`, nodes, requires }, grant);
      await api.registered(workflow('one', [node('a', TYPE, { origin })]));
      const before = commits;
      const runId = await api.start('one');
      const run = await api.ended(runId);
      const made = commits - before;
      return { run, pairs: (await eventsOf(api, runId)).filter(isToolEvent), commits: made };
    },
  };
});

const eventsOf = async (api: PackTest, runId: string): Promise<RunEventDoc[]> => {
  const { events } = (await api.get(`/v1/runs/${runId}/events/poll?timeout=1`)).json();
  for (const event of events) assertPublic('run-event.schema.json', event);
  return events;
};

/** Of a pair. */
function assertPair([called, returned]: readonly RunEventDoc[], expected: JsonObject): void {
  const about = { agentId: 'core.system', callId: called?.payload.callId, nodeId: 'a' };
  const { argsHash, principal, ...rest } = called!.payload;
  assert.deepEqual(rest, { ...about, toolName: expected.toolName, transport: 'http' });
  assert.match(String(argsHash), /^[0-9a-f]{64}$/);
  assert.ok(principal);
  const { durationMs, error, ...more } = returned!.payload;
  assert.deepEqual(more, { ...about, toolName: expected.toolName, status: expected.status });
  assert.equal(returned!.causationId, called!.eventId);
  assert.equal((error as JsonObject | undefined)?.code, expected.code);
  assert.equal(typeof durationMs, expected.status === 'forbidden' ? 'undefined' : 'number');
}

await onPublicNetwork(import.meta, () => {
  test('an answer is a Response, and its call a pair in the log, for two commits', async () => {
    const { run } = await opened();
    const call = `
      const response = await ctx.http.safeFetch(ctx.config.origin + '/path?q=secret', { headers: { 'x-a': 'b' } });
      if (!(response instanceof Response) || !response.ok || response.headers.get('x-note') !== 'hi') throw new Error('no');
      if (typeof (await response.json()).number !== 'number') throw new Error('no');`;
    const { commits: bare } = await run('return {};');
    const { run: ended, pairs, commits } = await run(`${call} return {};`);
    assert.equal(ended.status, 'completed', JSON.stringify(ended));
    assert.equal(commits - bare, 2);
    assertPair(pairs, { toolName: 'http.safeFetch', status: 'ok' });
    assert.doesNotMatch(JSON.stringify(pairs), /secret|x-a|93\.184/);
  });

  test('what is refused stands in the log too', async () => {
    const { run } = await opened();
    const blocked = [
      [METADATA, {}, 'scheme_not_allowed'],
      ['https://169.254.169.254/', {}, 'address_not_allowed'],
      ['https://127.0.0.1/', {}, 'address_not_allowed'],
      ['https://0x7f.1/', {}, 'address_not_allowed'],
      ['https://example.com/', { headers: { Connection: 'upgrade' } }, 'upgrade_not_allowed'],
    ] as const;
    const calls = [...blocked, [`https://${PUBLIC_ADDRESS}:4444/`, {}]];
    const { run: ended, pairs } = await run(`
      const failures = [];
      for (const [url, init] of ${JSON.stringify(calls)})
        await ctx.http.safeFetch(url, init).catch(({ code, details }) => failures.push({ code, reason: details.reason }));
      return { failures };`);
    const failures = (ended.outputs as JsonObject).failures as JsonObject[];
    assert.deepEqual(
      failures.slice(0, -1),
      blocked.map(([, , reason]) => ({ code: 'ssrf_blocked', reason })),
    );
    assert.equal(failures.at(-1)?.code, 'fetch_failed');
    assert.equal(pairs.length, calls.length * 2);
    for (const at of blocked.keys())
      assertPair(pairs.slice(at * 2, at * 2 + 2), {
        toolName: 'http.safeFetch',
        status: 'forbidden',
        code: 'ssrf_blocked',
      });
    assertPair(pairs.slice(-2), { toolName: 'http.safeFetch', status: 'error', code: 'fetch_failed' });
  });

  test('a granted fetch is told as well, and goes where the operator allows', async () => {
    const { run } = await opened();
    const body = `
      const { status } = await fetch(ctx.config.origin, { method: 'POST', body: 'x' });
      const codes = [];
      for (const get of [fetch, ctx.http.safeFetch])
        await get('https://127.0.0.1:4444/').catch(({ code, details }) => codes.push(code, details.code ?? details.reason));
      return { status, codes };`;
    const { run: ended, pairs } = await run(body, ['net.outbound']);
    const codes = ['fetch_failed', 'ECONNREFUSED', 'ssrf_blocked', 'address_not_allowed'];
    assert.deepEqual(ended.outputs, { status: 200, codes }, JSON.stringify(ended));
    assertPair(pairs.slice(0, 2), { toolName: 'fetch', status: 'ok' });
    assert.equal(pairs.length, 6);
  });

  test('a credential is filled in on the way out, and each decision stands in the log', async () => {
    const { run, server, ...api } = await opened();
    const value = 'sk-live-0123456789abcdef';
    for (const [ref, audience] of [
      ['mine', PUBLIC_ADDRESS],
      ['other', 'api.example.com'],
    ]) {
      const made = await api.post('/v1/host/gantry/credentials', {
        ref,
        kind: 'bearer',
        audiences: [audience],
        value,
      });
      assert.equal(made.statusCode, 201, made.body);
    }
    const body = `
      const codes = [];
      const call = (init) => ctx.http.safeFetch(ctx.config.origin, init)
        .then(({ status }) => codes.push(status), ({ code }) => codes.push(code));
      await call({ credential: { ref: 'mine' } });
      await call({ headers: { 'X-Api-Key': 'Key {{credential:mine}}' } });
      await call({ credential: { ref: 'other' } });
      await call({ credential: { ref: 'nowhere' } });
      await call({ headers: { Authorization: 'Bearer made-up' } });
      await call({ credential: { ref: 'mine' }, headers: { 'X-Api-Key': '{{credential:mine}}' } });
      return { codes };`;
    const before = server.seen.length;
    const { run: ended, pairs } = await run(body);
    const codes = [
      200,
      200,
      'credential_forbidden',
      'credential_not_found',
      'fetch_failed',
      'validation_error',
    ];
    assert.deepEqual(ended.outputs, { codes }, JSON.stringify(ended));
    assert.deepEqual([server.seen.length - before, server.identity], [2, ['undefined', `Key ${value}`]]);
    assert.equal(pairs.length, 12);
    const events = await eventsOf(api, String(ended.runId));
    const decided = events.filter(({ type }) => type === 'egress.decided').map(({ payload }) => payload);
    const destination = new URL(server.origin).host;
    assert.deepEqual(
      decided.map(({ decision, reason, ...rest }) => [decision, reason, rest.destination]),
      [
        ['allowed', 'ok', destination],
        ['allowed', 'ok', destination],
        ['denied', 'out-of-audience', destination],
      ],
    );
    assert.doesNotMatch(JSON.stringify(events), /sk-live/);
  });

  test('where the operator says so, a request to another host goes without its credential', async (t) => {
    trustPublicServer();
    const seen: string[] = [];
    const origin = await publicServer(t, ({ headers }, response) => {
      seen.push(String(headers.authorization));
      response.end();
    });
    const api = await packTest(t, { settings: { outOfAudience: 'downgrade' } });
    const { httpClient } = (await api.get('/.well-known/openwop')).json();
    assert.deepEqual(httpClient.egressPolicy.decisions, ['allowed', 'denied', 'downgraded']);
    const about = { ref: 'other', kind: 'bearer', audiences: ['api.example.com'] };
    await api.post('/v1/host/gantry/credentials', { ...about, value: 'sk-live-0123456789abcdef' });
    const body =
      "return { status: (await ctx.http.safeFetch(ctx.config.origin, { credential: { ref: 'other' } })).status };";
    await api.install({ nodes: { [TYPE]: { body, role: 'side-effect' } } });
    await api.registered(workflow('one', [node('a', TYPE, { origin })]));
    const { outputs, runId } = await api.ended(await api.start('one'));
    assert.deepEqual([outputs, seen], [{ status: 200 }, ['undefined']]);
    const decided = (await eventsOf(api, String(runId))).find(({ type }) => type === 'egress.decided');
    assert.equal(decided?.payload.decision, 'downgraded');
  });

  test('a call that is under way while the run is paused is told when it goes on, and made once', async () => {
    const api = await opened();
    const { server } = api;
    const body = `
      const { number } = await (await ctx.http.safeFetch(ctx.config.origin + '/held', { method: 'POST' })).json();
      return { number };`;
    await api.install({ version: '2.0.0', nodes: { [TYPE]: { body, role: 'side-effect' } } });
    await api.registered(workflow('one', [node('a', TYPE, { origin: server.origin })]));
    const hold = Promise.withResolvers<void>();
    server.held = hold.promise;
    const before = server.seen.length;
    const runId = await api.start('one');
    while (server.seen.length === before) await new Promise((resolve) => setTimeout(resolve, 5));
    await api.post(`/v1/runs/${runId}:pause`, { drainPolicy: 'drain-current-node' });
    hold.resolve();
    await api.post(`/v1/runs/${runId}:resume`, {});
    const run = await api.ended(runId);
    assert.equal(run.status, 'completed', JSON.stringify(run));
    const events = await eventsOf(api, runId);
    assertPair(events.filter(isToolEvent), { toolName: 'http.safeFetch', status: 'ok' });
    const types = events.map(({ type }) => type);
    assert.ok(types.indexOf('run.resumed') < types.indexOf('agent.toolReturned'));
    assert.equal(server.seen.length, before + 1);
  });
});
