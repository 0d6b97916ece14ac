/** Bad input over the whole API: the right kind of refusal, nothing leaked, the process stays up. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { propertyRuns } from '../../protocol/src/testing/property-runs.ts';
import { node, workflow } from './testing/definitions.ts';
import { onePerFile } from './testing/one-per-file.ts';
import { type TestHost, testHost } from './testing/test-host.ts';

const CANARY = 'sk-canary-4f9a2b7c1d8e6f3a5b0c9d7e';
const three = workflow('three', [node('a', 'core.noop'), node('b', 'core.noop'), node('c', 'core.noop')]);
/** Not among the ids that are tried, since one of the routes deletes. */
const kept = { ...three, id: 'kept' };
const JSON_HEADERS = { 'content-type': 'application/json' };
/** Not a failure of the host: unserved capability, or back-pressure. */
const HONEST_5XX = new Set([501, 503]);

type Routes = { method: 'GET' | 'POST' | 'DELETE' | 'PUT'; path: string }[];

async function routesOf(host: TestHost): Promise<Routes> {
  const { paths } = (await host.request({ url: '/v1/openapi.json' })).json();
  return Object.entries<Record<string, unknown>>(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({
      method: method.toUpperCase() as Routes[number]['method'],
      path,
    })),
  );
}

/** What people open in a browser. */
const isPage = (where: string): boolean => where.includes('/v1/host/gantry/authorize/');

function checkAnswer(where: string, response: { statusCode: number; body: string }): void {
  const { statusCode, body } = response;
  assert.ok(statusCode < 500 || HONEST_5XX.has(statusCode), `${where}: ${statusCode} ${body}`);
  if (statusCode < 400) return;
  assert.ok(!body.includes(CANARY), `${where}: echoes what looks like a secret`);
  assert.ok(!/node_modules|\.ts:\d+|at async /.test(body), `${where}: leaks internals`);
  if (isPage(where) && body.startsWith('<!doctype html>')) return;
  const envelope = JSON.parse(body);
  const keys = Object.keys(envelope).filter((key) => !['error', 'message', 'details'].includes(key));
  assert.deepEqual(keys, [], `${where}: closed envelope`);
  assert.ok(envelope.error.length > 0 && envelope.message.length > 0, where);
}

const anyId = fc.oneof(
  fc.string({ maxLength: 200 }),
  fc.constantFrom('three', 'run_00000000000000000000000000', CANARY, '..', '%00', '__proto__', ' '),
);

const openHost = onePerFile((t) => testHost(t, { workflows: [three, kept] }));

test('every route answers any path parameter, query and JSON body with an honest status', async () => {
  const host = await openHost();
  const routes = await routesOf(host);
  assert.ok(routes.length > 15, `routes in the description: ${routes.length}`);
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...routes),
      anyId,
      fc.dictionary(fc.string({ maxLength: 20 }), fc.string({ maxLength: 40 }), { maxKeys: 4 }),
      fc.jsonValue({ maxDepth: 5 }),
      async ({ method, path }, id, query, payload) => {
        const url = path.replaceAll(/\{[^}]+\}/g, encodeURIComponent(id) || 'x');
        if (path.endsWith('/events')) return;
        const { timeout: _wait, ...rest } = query;
        const search = new URLSearchParams(path.endsWith('/poll') ? { ...rest, timeout: '1' } : rest);
        const body =
          method === 'GET' || method === 'DELETE'
            ? {}
            : { payload: JSON.stringify(payload), headers: JSON_HEADERS };
        checkAnswer(`${method} ${url}`, await host.request({ method, url: `${url}?${search}`, ...body }));
      },
    ),
    { numRuns: propertyRuns(400) },
  );
});

const MALFORMED: [name: string, payload: string | Buffer, headers: Record<string, string>, status: number][] =
  [
    ['not JSON', '{"workflowId":', JSON_HEADERS, 400],
    ['empty', '', JSON_HEADERS, 400],
    ['an array', '[]', JSON_HEADERS, 400],
    ['wrong types', '{"workflowId":7,"inputs":[]}', JSON_HEADERS, 400],
    ['unknown key', '{"workflowId":"kept","surprise":1}', JSON_HEADERS, 400],
    ['unknown workflow', `{"workflowId":"${CANARY}"}`, JSON_HEADERS, 404],
    [
      'deep nesting',
      `{"workflowId":"kept","inputs":{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}}`,
      JSON_HEADERS,
      400,
    ],
    ['prototype key', '{"workflowId":"kept","inputs":{"__proto__":{"polluted":true}}}', JSON_HEADERS, 400],
    ['bad UTF-8', Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d]), JSON_HEADERS, 400],
    ['too large', `{"workflowId":"kept","inputs":{"a":"${'x'.repeat(2_000_000)}"}}`, JSON_HEADERS, 413],
    ['another type', 'workflowId=kept', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['bad limit', '{"workflowId":"kept","configurable":{"recursionLimit":0}}', JSON_HEADERS, 400],
    ['huge tag', `{"workflowId":"kept","tags":["${'t'.repeat(257)}"]}`, JSON_HEADERS, 400],
    ['deep metadata', '{"workflowId":"kept","metadata":{"a":{"b":{"c":{"d":{"e":1}}}}}}', JSON_HEADERS, 400],
  ];

test('malformed run requests are refused with the right code and leave no run', async () => {
  const host = await openHost();
  for (const [name, payload, headers, status] of MALFORMED) {
    const response = await host.request({ method: 'POST', url: '/v1/runs', payload, headers });
    checkAnswer(name, response);
    assert.equal(response.statusCode, status, `${name}: ${response.body}`);
  }
  const { runs } = (await host.request({ url: '/v1/host/gantry/runs' })).json();
  assert.deepEqual(runs, []);
  assert.equal(Object.getOwnPropertyDescriptor(Object.prototype, 'polluted'), undefined);
});

test('bad cursors and stream modes are named', async () => {
  const host = await openHost();
  const created = await host.request({
    method: 'POST',
    url: '/v1/runs',
    payload: '{"workflowId":"three"}',
    headers: JSON_HEADERS,
  });
  const { runId } = created.json();
  const expected: [url: string, status: number, code: string][] = [
    [`/v1/runs/${runId}/events/poll?lastSequence=-1`, 400, 'validation_error'],
    [`/v1/runs/${runId}/events/poll?lastSequence=abc`, 400, 'validation_error'],
    [`/v1/runs/${runId}/events?streamMode=everything`, 400, 'unsupported_stream_mode'],
    [`/v1/runs/${runId}/events?streamMode=values,updates`, 400, 'unsupported_stream_mode'],
    [`/v1/runs/${runId}/events?bufferMs=99999`, 400, 'validation_error'],
    ['/v1/runs/run_unknown', 404, 'not_found'],
    ['/v1/nothing', 404, 'not_found'],
  ];
  for (const [url, status, code] of expected) {
    const response = await host.request({ url });
    assert.deepEqual([response.statusCode, response.json().error], [status, code], url);
  }
});
