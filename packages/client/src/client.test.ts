import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from './client.ts';
import { ApiError } from './error.ts';
import { backoffMs } from './retry.ts';
import { type Handler, openStream, runLog, sendJson, sseFrame, startTestHost } from './testing/test-host.ts';

const FAST = { attemptsMax: 4, baseMs: 1, maxMs: 4 };
const clientOf = (baseUrl: string) =>
  createClient({ baseUrl, apiKey: 'secret', retry: FAST, reconnect: FAST });

/** Answers the n-th request with the n-th handler; the last one repeats. */
function inTurn(...handlers: Handler[]): Handler {
  let turn = 0;
  return (request, response) => handlers[Math.min(turn++, handlers.length - 1)]?.(request, response);
}

const drop: Handler = (_request, response) => void response.destroy();
const created: Handler = (_request, response) =>
  sendJson(response, 201, { runId: 'r1', status: 'pending', eventsUrl: '/e', statusUrl: '/s' });
const refuse =
  (status: number, error: string, headers: Record<string, string> = {}, details?: object): Handler =>
  (_request, response) =>
    sendJson(response, status, { error, message: `It is ${error}.`, ...(details && { details }) }, headers);

async function failureFrom(promise: Promise<unknown>): Promise<ApiError> {
  const error = await promise.then(
    () => assert.fail('expected a failure'),
    (reason) => reason,
  );
  assert.ok(error instanceof ApiError, String(error));
  return error;
}

test('create sends key, body and a fresh idempotency key', async (t) => {
  const host = await startTestHost(t, created);
  const { runs } = clientOf(host.url);
  assert.equal((await runs.create({ workflowId: 'hello', inputs: { a: 1 } })).runId, 'r1');
  await runs.create({ workflowId: 'hello' });
  await runs.create({ workflowId: 'hello' }, { idempotencyKey: 'mine' });
  const [first, second, third] = host.seen;
  assert.equal(first?.headers.authorization, 'Bearer secret');
  assert.deepEqual(JSON.parse(first?.body ?? ''), { workflowId: 'hello', inputs: { a: 1 } });
  assert.match(String(first?.headers['idempotency-key']), /^[0-9a-f]{32}$/);
  assert.notEqual(first?.headers['idempotency-key'], second?.headers['idempotency-key']);
  assert.equal(third?.headers['idempotency-key'], 'mine');
});

test('create repeats with the same key after a lost connection, a 503 and an attempt in flight', async (t) => {
  const host = await startTestHost(
    t,
    inTurn(
      drop,
      refuse(503, 'service_unavailable', { 'retry-after': '0' }),
      refuse(409, 'idempotency_in_flight', {}, { retryAfter: 0 }),
      created,
    ),
  );
  assert.equal((await clientOf(host.url).runs.create({ workflowId: 'hello' })).runId, 'r1');
  assert.equal(host.seen.length, 4);
  assert.equal(new Set(host.seen.map((request) => request.headers['idempotency-key'])).size, 1);
});

test('retries are bounded', async (t) => {
  const host = await startTestHost(t, refuse(503, 'service_unavailable', { 'retry-after': '0' }));
  const error = await failureFrom(clientOf(host.url).runs.get('r1'));
  assert.equal(error.code, 'service_unavailable');
  assert.equal(host.seen.length, FAST.attemptsMax);
});

test('a longer pause than a caller would wait for is reported at once', async (t) => {
  const host = await startTestHost(t, refuse(429, 'rate_limited', { 'retry-after': '3600' }));
  const error = await failureFrom(clientOf(host.url).runs.get('r1'));
  assert.equal(error.retryAfterMs, 3_600_000);
  assert.equal(host.seen.length, 1);
});

test('a refusal carries status, code, message and details', async (t) => {
  const host = await startTestHost(t, refuse(400, 'validation_error', {}, { fields: ['inputs.a'] }));
  const error = await failureFrom(clientOf(host.url).runs.create({ workflowId: 'hello' }));
  assert.equal(error.status, 400);
  assert.equal(error.code, 'validation_error');
  assert.equal(error.message, 'It is validation_error.');
  assert.deepEqual(error.details, { fields: ['inputs.a'] });
  assert.equal(host.seen.length, 1);
});

test('an unreachable host is named with its cause and the next step', async (t) => {
  const host = await startTestHost(t, drop);
  await host.stop();
  const error = await failureFrom(clientOf(host.url).runs.get('r1'));
  assert.equal(error.status, 0);
  assert.equal(error.code, 'host_unreachable');
  assert.ok(error.message.includes(host.url));
  assert.match(error.message, /ECONNREFUSED.*Is it running\?.*`gantry start`/);
});

test('an answer that is not a host is recognised', async (t) => {
  const host = await startTestHost(t, (_request, response) => void response.writeHead(302).end('<html>'));
  assert.equal((await failureFrom(clientOf(host.url).discovery())).code, 'bad_response');
  assert.throws(() => createClient({ baseUrl: 'localhost:7070' }), /not an http\(s\) URL/);
});

test('a repeated request for a new key carries the same idempotency key', async (t) => {
  const host = await startTestHost(t, inTurn(drop, refuse(409, 'conflict')));
  const error = await failureFrom(clientOf(host.url).keys.create({ name: 'ci', scopes: ['runs:create'] }));
  assert.equal(error.code, 'conflict');
  const [first, second] = host.seen.map((request) => request.headers['idempotency-key']);
  assert.ok(first);
  assert.equal(first, second);
});

test('an aborted call throws the reason of the signal', async (t) => {
  const stopping = new AbortController();
  const host = await startTestHost(t, () => stopping.abort(new Error('enough')));
  await assert.rejects(clientOf(host.url).runs.get('r1', { signal: stopping.signal }), /enough/);
});

test('wait follows the run to its end and answers the snapshot', async (t) => {
  const host = await startTestHost(t, (request, response) => {
    if (request.url.includes('/events')) openStream(response).end(runLog('r1', 3).map(sseFrame).join(''));
    else sendJson(response, 200, { runId: 'r1', workflowId: 'w', status: 'completed' });
  });
  assert.equal((await clientOf(host.url).runs.wait('r1')).status, 'completed');
});

test('each method speaks to its endpoint', async (t) => {
  const host = await startTestHost(t, (_request, response) =>
    sendJson(response, 200, { keys: [], workflows: [], versions: [] }),
  );
  const { runs, workflows, keys, discovery } = clientOf(`${host.url}/`);
  await runs.get('a/b');
  await runs.list({ status: 'failed', limit: 5 });
  await runs.cancel('r', { reason: 'x' });
  await runs.bulkCancel(['r'], { reason: 'x' });
  await runs.pause('r', { drainPolicy: 'immediate' });
  await runs.resume('r');
  await runs.explain('r');
  await runs.fork('r', { mode: 'branch', fromSeq: 3 });
  await runs.diff('r', 'a/b');
  await runs.ancestry('r');
  await runs.debugBundle('r');
  await runs.poll('r', { lastSequence: 4, timeoutSeconds: 1 });
  await workflows.register({ id: 'w' });
  await workflows.list();
  await workflows.get('w');
  await workflows.versions('w');
  await keys.list({ tenant: 't' });
  await keys.rotate('k', { graceSeconds: 60, tenant: 't' });
  await keys.revoke('k');
  await discovery();
  assert.deepEqual(
    host.seen.map(({ method, url, body }) => `${method} ${url} ${body}`.trim()),
    [
      'GET /v1/runs/a%2Fb',
      'GET /v1/host/gantry/runs?status=failed&limit=5',
      'POST /v1/runs/r/cancel {"reason":"x"}',
      'POST /v1/runs:bulk-cancel {"runIds":["r"],"reason":"x"}',
      'POST /v1/runs/r:pause {"drainPolicy":"immediate"}',
      'POST /v1/runs/r:resume {}',
      'GET /v1/host/gantry/runs/r/explain',
      'POST /v1/runs/r:fork {"mode":"branch","fromSeq":3}',
      'GET /v1/runs/r:diff?against=a%2Fb',
      'GET /v1/runs/r/ancestry',
      'GET /v1/runs/r/debug-bundle',
      'GET /v1/runs/r/events/poll?lastSequence=4&timeout=1',
      'POST /v1/host/gantry/workflows {"id":"w"}',
      'GET /v1/host/gantry/workflows',
      'GET /v1/workflows/w',
      'GET /v1/host/gantry/workflows/w/versions',
      'GET /v1/host/gantry/keys?tenant=t',
      'POST /v1/host/gantry/keys/k/rotate?tenant=t {"graceSeconds":60}',
      'DELETE /v1/host/gantry/keys/k',
      'GET /.well-known/openwop',
    ],
  );
});

test('pauses double up to the ceiling and keep half of it as jitter', () => {
  const policy = { attemptsMax: 9, baseMs: 100, maxMs: 1000 };
  assert.equal(
    backoffMs(policy, 1, () => 0),
    50,
  );
  assert.equal(
    backoffMs(policy, 3, () => 1),
    400,
  );
  assert.equal(
    backoffMs(policy, 30, () => 1),
    1000,
  );
});
