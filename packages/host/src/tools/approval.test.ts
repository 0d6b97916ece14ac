/** Tools that the operator forbade, whose calls a person approves first, or that are called too often. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { readAllowList } from '@gantry/egress';
import type { JsonObject, RunEventDoc } from '@gantry/protocol';
import { TOOL_NAMES } from '@gantry/surfaces';
import { type PackTest, sharedPackTest } from '../packs/testing/pack-test.ts';
import { node, workflow } from '../testing/definitions.ts';
import { onePerFile } from '../testing/one-per-file.ts';
import { readToolRule } from './tool-rules.ts';

const TYPE = 'vendor.acme.send';

interface Opened extends PackTest {
  readonly seen: string[];
  readonly origin: string;
  begin(body: string): Promise<string>;
  answer(runId: string, action: string): Promise<void>;
  /** What the log says of tools. */
  told(runId: string): Promise<RunEventDoc[]>;
}

const opened = onePerFile(async (t): Promise<Opened> => {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    response.end('done');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const api = await sharedPackTest(t, {
    settings: {
      egressAllow: readAllowList(`raw-fetch=${origin}`),
      toolRules: ['fetch=approve-writes', 'http.safeFetch=forbid'].map((rule) =>
        readToolRule(rule, TOOL_NAMES),
      ),
    },
  });
  return {
    ...api,
    seen,
    origin,
    async begin(body) {
      seen.length = 0;
      const pack = { requires: ['net.outbound'], nodes: { [TYPE]: { body, role: 'side-effect' } } };
      await api.install(pack, '?grant=net.outbound');
      await api.registered(workflow('sends', [node('a', TYPE, { origin })]));
      return api.start('sends');
    },
    async answer(runId, action) {
      const answered = await api.post(`/v1/runs/${runId}/interrupts/a`, { resumeValue: { action } });
      assert.equal(answered.statusCode, 200, answered.body);
    },
    async told(runId) {
      const { events } = (await api.get(`/v1/runs/${runId}/events/poll?timeout=1`)).json();
      return events.filter(({ type }: RunEventDoc) => type.startsWith('agent.tool'));
    },
  };
});

const SEND = `
  const looked = await (await fetch(ctx.config.origin + '/look')).text();
  const sent = await fetch(ctx.config.origin + '/send', { method: 'POST', body: 'to: everyone' });
  const again = await fetch(ctx.config.origin + '/again', { method: 'POST', body: 'twice' });
  return { looked, sent: await sent.text(), again: await again.text() };`;

test('a node stops at a call that a person has to approve, and makes it when that is given', async () => {
  const { begin, asks, answer, ended, told, seen } = await opened();
  const runId = await begin(SEND);
  const { kind, data } = (await asks(runId)) as { kind: string; data: JsonObject };
  assert.equal(kind, 'approval');
  assert.equal(data.title, 'Approve a call of fetch');
  const { tool, args, argsHash } = data.artifactData as JsonObject;
  assert.equal(tool, 'fetch');
  assert.match(JSON.stringify(args), /\/send.*POST|POST.*\/send/);
  assert.match(JSON.stringify(args), /to: everyone/);
  assert.deepEqual(seen, ['GET /look']);
  assert.equal((await told(runId)).length, 2);
  await answer(runId, 'accept');
  assert.match(JSON.stringify(await asks(runId)), /twice/);
  assert.deepEqual(seen, ['GET /look', 'POST /send']);
  await answer(runId, 'accept');
  const run = await ended(runId);
  assert.equal(run.status, 'completed', JSON.stringify(run));
  assert.deepEqual(seen, ['GET /look', 'POST /send', 'POST /again']);
  const events = await told(runId);
  assert.deepEqual(
    events.map(({ type, payload }) => [type.slice(10), payload.status]),
    [1, 2, 3].flatMap(() => [
      ['Called', undefined],
      ['Returned', 'ok'],
    ]),
  );
  assert.equal(events[2]?.payload.argsHash, argsHash);
});

test('a call that a person rejects is refused, with its pair', async () => {
  const { begin, asks, answer, ended, told, seen } = await opened();
  const runId = await begin(SEND);
  await asks(runId);
  await answer(runId, 'reject');
  const { status, error } = (await ended(runId)) as { status: string; error: JsonObject };
  assert.deepEqual([status, error.code], ['failed', 'approval_rejected']);
  assert.match(String(error.message), /was not approved: \S+ rejected it/);
  assert.deepEqual(seen, ['GET /look']);
  const [called, returned] = (await told(runId)).slice(2);
  assert.equal(returned?.causationId, called?.eventId);
  assert.deepEqual(
    [returned?.payload.status, (returned?.payload.error as JsonObject | undefined)?.code],
    ['forbidden', 'approval_rejected'],
  );
});

test('what was approved is not sent with other arguments', async () => {
  const { begin, asks, answer, ended, seen } = await opened();
  const body = `
    const init = { method: 'POST', body: String(Math.random()) };
    return { sent: await (await fetch(ctx.config.origin + '/send', init)).text() };`;
  const runId = await begin(body);
  await asks(runId);
  await answer(runId, 'accept');
  const { error } = (await ended(runId)) as { error: JsonObject };
  assert.equal(error.code, 'idempotency_key_mismatch');
  assert.match(String(error.message), /other arguments than the one that was approved/);
  assert.deepEqual(seen, []);
});

test('after a call that waits, the code gets nothing more, and cannot approve it by itself', async () => {
  const { begin, asks, ended, seen } = await opened();
  const caught = `
    try { await fetch(ctx.config.origin + '/send', { method: 'POST' }); }
    catch { try { await fetch(ctx.config.origin + '/look'); } catch {} }
    return { done: true };`;
  await asks(await begin(caught));
  assert.deepEqual(seen, []);
  const forged = "await ctx.suspend({ kind: 'approval', key: 'gantry.tool:net.host:0:0' }); return {};";
  const { error } = (await ended(await begin(forged))) as { error: JsonObject };
  assert.equal(error.code, 'validation_error');
});

test('a tool that is forbidden is told before the code runs, and refused with a pair when it is called', async () => {
  const { begin, ended, told } = await opened();
  const runId = await begin("await ctx.http.safeFetch('https://example.com/'); return {};");
  const { status, error } = (await ended(runId)) as { status: string; error: JsonObject };
  assert.deepEqual([status, error.code], ['failed', 'forbidden'], JSON.stringify(error));
  const [atLoad, called, returned, ...more] = await told(runId);
  assert.deepEqual(more, []);
  const { type, payload, causationId } = atLoad!;
  assert.deepEqual([type, payload.status, causationId], ['agent.toolReturned', 'forbidden', undefined]);
  assert.match(String(payload.callId), /^forbidden:[0-9a-f]{64}$/);
  assert.equal(called?.type, 'agent.toolCalled');
  assert.deepEqual([returned?.causationId, returned?.payload.status], [called?.eventId, 'forbidden']);
});

test('a call beyond the limit of its principal is refused, with its pair', async (t) => {
  const { origin } = await opened();
  const api = await sharedPackTest(t, {
    settings: { egressAllow: readAllowList(`raw-fetch=${origin}`), toolCallsPerMinute: 2 },
  });
  const body = `
    const codes = [];
    for (let call = 0; call < 3; call++)
      await fetch(ctx.config.origin + '/' + call).then(({ status }) => codes.push(status), ({ code }) => codes.push(code));
    return { codes };`;
  const pack = { requires: ['net.outbound'], nodes: { [TYPE]: { body, role: 'side-effect' } } };
  await api.install(pack, '?grant=net.outbound');
  await api.registered(workflow('sends', [node('a', TYPE, { origin })]));
  const { outputs, runId } = await api.ended(await api.start('sends'));
  assert.deepEqual(outputs, { codes: [200, 200, 'rate_limited'] });
  const { events } = (await api.get(`/v1/runs/${runId}/events/poll?timeout=1`)).json();
  const [called, returned] = events.filter(({ type }: RunEventDoc) => type.startsWith('agent.tool')).slice(4);
  assert.deepEqual([returned.causationId, returned.payload.status], [called.eventId, 'rate_limited']);
});
