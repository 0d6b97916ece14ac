/** The documents that describe the host and its runs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DebugBundle, DiscoveryDocument } from '@gantry/protocol';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/schema';
import { node, workflow } from '../testing/definitions.ts';
import { onePerFile } from '../testing/one-per-file.ts';
import { debugBundle } from './debug-bundle.ts';
import { apiTest, assertError, assertPublic } from './testing/api-test.ts';

const anonymous = { authorization: '' };
const isDiscovery = Compile(DiscoveryDocument);
const isBundle = Compile(DebugBundle);

const openApi = onePerFile(apiTest);

test('discovery is public, cacheable and valid', async () => {
  const api = await openApi();
  const response = await api.get('/.well-known/openwop', anonymous);
  const doc = response.json();
  assert.equal(response.statusCode, 200);
  assert.equal(response.headers['cache-control'], 'public, max-age=300');
  assertPublic('capabilities.schema.json', doc);
  assert.ok(isDiscovery.Check(doc), JSON.stringify(isDiscovery.Errors(doc)[1]));
  assert.equal(doc.protocolVersion, '1.0');
  const { capabilities, ...root } = response.json();
  const { missedTicks } = root['x-host-gantry-scheduling'];
  assert.deepEqual(missedTicks, {
    policies: ['skip', 'fire-once', 'catch-up'],
    default: 'fire-once',
    catchUpMax: 100,
  });
  assert.deepEqual([capabilities.scheduling, capabilities.production], [root.scheduling, root.production]);
  assert.ok(capabilities.production.supported && !('limits' in capabilities));
  const etag = String(response.headers.etag);
  const same = await api.get('/.well-known/openwop', { ...anonymous, 'if-none-match': etag });
  assert.deepEqual([same.statusCode, same.body], [304, '']);
});

test('the OpenAPI document describes every route, its errors and what it needs', async () => {
  const api = await openApi();
  const doc = (await api.get('/v1/openapi.json', anonymous)).json();
  assert.match(doc.openapi, /^3\.1\./);
  assert.equal(doc.paths['/v1/webhooks/{webhookId}'].delete.responses['204'].content, undefined);
  const create = doc.paths['/v1/runs'].post;
  assert.deepEqual(create.security, [{ bearer: ['runs:create'] }]);
  const { schemas } = doc.components;
  const schemaOf = (content: { 'application/json': { schema: { $ref: string } } }) =>
    schemas[content['application/json'].schema.$ref.replace('#/components/schemas/', '')];
  assert.ok('workflowId' in schemaOf(create.requestBody.content).properties);
  assert.deepEqual(doc.servers, [{ url: '/' }]);
  for (const name of ['Run', 'Event', 'Interrupt', 'WorkflowDefinition', 'Schedule', 'ErrorEnvelope'])
    assert.ok(schemas[name]?.properties, name);
  for (const [, name = ''] of JSON.stringify(doc).matchAll(/"#\/components\/schemas\/(\w+)"/g))
    assert.ok(schemas[name], name);
  assert.equal(schemaOf(doc.paths['/v1/runs/{runId}'].get.responses['200'].content), schemas.Run);
  assert.deepEqual(Object.keys(create.responses).toSorted(), ['201', '400', '401', '403', 'default']);
  assert.ok(doc.paths['/v1/runs/{runId}:pause'].post);
  assert.ok(doc.paths['/v1/runs:bulk-cancel'].post);
  const stream = doc.paths['/v1/runs/{runId}/events'].get;
  assert.ok('text/event-stream' in stream.responses['200'].content);
  assert.deepEqual(
    stream.parameters.map((parameter: { name: string }) => parameter.name),
    ['runId', 'streamMode', 'bufferMs', 'lastEventId', 'a2uiDelta', 'lastSequence', 'fromSequence', 'limit'],
  );
  const ids = Object.values<Record<string, { operationId: string }>>(doc.paths)
    .flatMap((methods) => Object.values(methods))
    .map((operation) => operation.operationId);
  assert.equal(new Set(ids).size, ids.length, 'operation ids are unique');
});

test('every schema of a request compiles, which the host does at the first one', async () => {
  interface Operation {
    readonly requestBody?: { readonly content: Record<string, { readonly schema?: TSchema }> };
    readonly parameters?: readonly { readonly schema?: TSchema }[];
  }
  const api = await openApi();
  const { paths, components } = (await api.get('/v1/openapi.json', anonymous)).json();
  const operations = Object.values<Record<string, Operation>>(paths).flatMap((methods) =>
    Object.values(methods),
  );
  const given = operations.flatMap(({ requestBody, parameters = [] }) => [
    ...Object.values(requestBody?.content ?? {}),
    ...parameters,
  ]);
  const schemas = [...given.map(({ schema }) => schema), ...Object.values<TSchema>(components.schemas)];
  assert.ok(schemas.length > 200, `${schemas.length} schemas`);
  for (const schema of schemas)
    if (schema) assert.doesNotThrow(() => Compile(schema), JSON.stringify(schema).slice(0, 200));
});

test('workflows are registered, read, listed and kept by version', async () => {
  const api = await openApi();
  const registry = '/v1/host/gantry/workflows';
  const first = (await api.post(registry, workflow('w', [node('a', 'core.noop')]))).json();
  const second = await api.post(registry, workflow('w', [node('b', 'core.noop')], { version: '2.0.0' }));
  assert.equal(second.statusCode, 201, second.body);
  const current = await api.get('/v1/workflows/w');
  assertPublic('workflow-definition.schema.json', current.json());
  assert.equal(current.json().version, '2.0.0');
  const versions = (await api.get(`${registry}/w/versions`)).json().versions;
  assert.deepEqual(
    versions.map((version: { version: string }) => version.version),
    ['2.0.0', '1.0.0'],
  );
  const old = (await api.get(`${registry}/w/versions/${first.hash}`)).json();
  assert.equal(old.nodes[0].id, 'a');
  assertError(await api.get(`${registry}/three/versions/${first.hash}`), 404, 'not_found');
  const listed = (await api.get(registry)).json().workflows;
  assert.equal(
    listed.find((each: { workflowId: string }) => each.workflowId === 'w').hash,
    second.json().hash,
  );
  assertError(await api.get('/v1/workflows/absent'), 404, 'not_found');
  assertError(await api.get(`${registry}/absent/versions`), 404, 'not_found');
  assertError(await api.post(registry, { id: 'broken' }), 400, 'validation_error');
});

test('the debug bundle holds the whole run, with what is sensitive masked', async () => {
  const api = await openApi();
  const runId = await api.start('secretive', { inputs: { token: 'sk-canary-0123456789', count: 1 } });
  await api.ended(runId);
  const response = await api.get(`/v1/runs/${runId}/debug-bundle`);
  const bundle = response.json();
  assert.equal(response.headers['cache-control'], 'no-store');
  assertPublic('debug-bundle.schema.json', bundle);
  assert.ok(isBundle.Check(bundle), JSON.stringify(isBundle.Errors(bundle)[1]));
  assert.ok(!response.body.includes('sk-canary'));
  assert.deepEqual([bundle.redactionApplied, bundle.redactionMode], [true, 'mask']);
  const { events } = (await api.get(`/v1/runs/${runId}/events/poll`)).json();
  assert.deepEqual(bundle.events, events);
  assert.equal(bundle.metrics.eventCount, events.length);
  assert.deepEqual(
    bundle.spans.map((span: { name: string }) => span.name),
    ['openwop.run', 'openwop.node.core.noop'],
  );
  assert.ok(bundle.spans.every((span: { endedAt: string | null }) => span.endedAt !== null));
  assert.equal(bundle.truncated, undefined);
});

test('a bundle too large for one answer is a prefix that says so', async () => {
  const api = await openApi();
  const runId = await api.start('three');
  await api.ended(runId);
  const read = await api.host.services.runtime.read({ tenant: 'default', runId });
  assert.ok(read);
  const events = Array.from({ length: 100 }, (_, sequence) => ({
    sequence,
    type: 'log.appended',
    at: 0,
    nodeId: null,
    causationId: null,
    payload: JSON.stringify({ level: 'info', message: 'x'.repeat(1_000) }),
    sealed: null,
  }));
  const info = { name: 'gantry', version: '1' };
  const whole = JSON.parse(await debugBundle(info, 0, { read, events, total: events.length }, 1_000_000));
  assert.deepEqual([whole.truncated, whole.metrics.eventCount], [undefined, 100]);
  const text = await debugBundle(info, 0, { read, events, total: events.length }, 50_000);
  const part = JSON.parse(text);
  assert.ok(text.length <= 50_000 && text.length > 25_000, String(text.length));
  assert.deepEqual([part.truncated, part.truncatedReason], [true, 'events_truncated_to_size_cap']);
  assert.equal(part.metrics.eventCount, 100, 'of all, also of those left out');
  assert.deepEqual(part.events, whole.events.slice(0, part.events.length));
  const unread = JSON.parse(
    await debugBundle(info, 0, { read, events, total: events.length + 1 }, 1_000_000),
  );
  assert.equal(unread.truncated, true, 'also when the rest was never read');
});

test('a bundle of a long log reads each event once and lets others in between', async () => {
  const api = await openApi();
  const runId = await api.start('three');
  await api.ended(runId);
  const read = await api.host.services.runtime.read({ tenant: 'default', runId });
  assert.ok(read);
  let payloadReads = 0;
  const events = Array.from({ length: 5_000 }, (_, sequence) => ({
    sequence,
    type: 'log.appended',
    at: 0,
    nodeId: null,
    causationId: null,
    get payload() {
      payloadReads++;
      return JSON.stringify({ level: 'info', message: 'x'.repeat(100) });
    },
    sealed: null,
  }));
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns++;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const text = await debugBundle(
    { name: 'gantry', version: '1' },
    0,
    { read, events, total: events.length },
    600_000,
  );
  isDone = true;
  assert.ok(JSON.parse(text).events.length > 1_000);
  assert.ok(text.length <= 600_000);
  assert.ok(payloadReads <= events.length, `${payloadReads} payloads read`);
  assert.ok(turns >= 4, `${turns} turns of the loop`);
});

test('a waiting run explains what it waits for', async () => {
  const api = await openApi();
  const runId = await api.start('slow');
  const explained = await api.get(`/v1/host/gantry/runs/${runId}/explain`);
  assert.equal(explained.statusCode, 200, explained.body);
  assert.equal(explained.json().runId, runId);
  assert.ok(explained.body.includes('wait'), explained.body);
  assertError(await api.get('/v1/host/gantry/runs/absent/explain'), 404, 'not_found');
});
