import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@gantry/protocol';
import { createHost } from '../../../host.ts';
import { readSettings } from '../../../settings.ts';
import { TEST_KEY, temporaryFolder } from '../../../testing/host-process.ts';
import { assertError } from '../../testing/api-test.ts';
import { type SeamTest, seamTest } from '../testing/seam-test.ts';
import { operationOf } from './dialect.ts';

type Check = (api: SeamTest) => Promise<void>;
const CHECKS: [name: string, check: Check][] = [];
const check = (...one: [name: string, check: Check]): void => void CHECKS.push(one);

const asking =
  (api: SeamTest, surface: string, tenantId = 'tenant-a') =>
  (op: string, args: object) =>
    api.drive('test/surface', { tenantId, surface, op, args });

const refusal = (api: SeamTest, surface: string, op: string, args: object) =>
  api.post('/v1/host/sample/test/surface', { tenantId: 'tenant-a', surface, op, args });

check('keys and values, in the words of the suite', async (api) => {
  const kv = asking(api, 'kv');
  assert.equal((await kv('get', { key: 'none' })).found, false);
  await kv('set', { key: 'k', value: 'one', ttlSeconds: 60 });
  assert.deepEqual(pick(await kv('get', { key: 'k' }), ['found', 'value']), [true, 'one']);
  assert.equal((await kv('cas', { key: 'k', expect: 'one', set: 'two' })).swapped, true);
  assert.deepEqual(await kv('cas', { key: 'k', expect: 'one', set: 'x' }), { swapped: false, actual: 'two' });
  await Promise.all(Array.from({ length: 20 }, () => kv('atomicIncrement', { key: 'n', delta: 1 })));
  assert.equal((await kv('get', { key: 'n' })).value, 20);
  const cache = asking(api, 'cache');
  await cache('put', { key: 'k', value: 'c', ttlSeconds: 60 });
  assert.deepEqual(pick(await cache('get', { key: 'k' }), ['found', 'hit', 'value']), [true, true, 'c']);
  assert.deepEqual(pick(await cache('get', { key: 'other' }), ['found', 'hit']), [false, false]);
});

check(
  'tenants of the suite share nothing, neither with each other nor with those of another key',
  async (api) => {
    const [ours, theirs] = [asking(api, 'kv'), asking(api, 'kv', 'tenant-b')];
    await ours('set', { key: 'k', value: 1 });
    assert.equal((await theirs('get', { key: 'k' })).found, false);
    assert.deepEqual((await theirs('list', {})).keys, []);
    const made = await api.post('/v1/host/gantry/keys', {
      name: 'other',
      tenant: 'other-tenant',
      scopes: ['runs:create'],
    });
    const headers = { authorization: `Bearer ${made.json().key}` };
    const call = { tenantId: 'tenant-a', surface: 'kv', op: 'get', args: { key: 'k' } };
    const answer = await api.post('/v1/host/sample/test/surface', call, headers);
    assert.equal(answer.json().found, false, answer.body);
  },
);

check('webhooks of one tenant are nothing to another', async (api) => {
  const [ours, theirs] = [asking(api, 'webhooks'), asking(api, 'webhooks', 'tenant-b')];
  const idsIn = ({ webhooks }: JsonObject) => (webhooks as JsonObject[]).map(({ webhookId }) => webhookId);
  const wanted = { url: 'https://example.com/hook', events: ['run.completed'] };
  const { webhookId, secretFingerprint } = await ours('register', wanted);
  assert.match(String(secretFingerprint), /^[0-9a-f]{8}$/);
  assert.deepEqual([idsIn(await ours('list', {})), idsIn(await theirs('list', {}))], [[webhookId], []]);
  const foreign = { tenantId: 'tenant-b', surface: 'webhooks', op: 'unregister', args: { webhookId } };
  assertError(await api.post('/v1/host/sample/test/surface', foreign), 404, 'subscription_not_found');
  assert.deepEqual(await ours('unregister', { webhookId }), { ok: true });
  assert.deepEqual(idsIn(await ours('list', {})), []);
  assertError(await refusal(api, 'webhooks', 'register', { url: 1 }), 400, 'validation_error');
  assertError(await refusal(api, 'webhooks', 'rename', {}), 400, 'validation_error');
});

check('tables: the first row declares the columns; pages end with null', async (api) => {
  const table = asking(api, 'table');
  assert.deepEqual((await table('query', { table: 'none', limit: 1 })).rows, []);
  for (const n of [1, 2, 3]) await table('insert', { table: 't', row: { id: `row-${n}`, n } });
  const first = await table('query', { table: 't', limit: 2 });
  const last = await table('query', { table: 't', limit: 2, cursor: first.nextCursor });
  const ids = [...first.rows, ...last.rows].map(({ id }: { id: string }) => id);
  assert.deepEqual([ids, last.nextCursor], [['row-1', 'row-2', 'row-3'], null]);
  const wrong = await refusal(api, 'table', 'insert', { table: 't', row: { id: 'row-4', n: 'four' } });
  assertError(wrong, 400, 'table_schema_violation');
  assert.deepEqual((await asking(api, 'table', 'tenant-b')('query', { table: 't', filter: {} })).rows, []);
});

check('queues: one message at a time, given back, dead, or done with', async (api) => {
  const queue = asking(api, 'queueBus');
  assert.deepEqual(await queue('consume', { subject: 'none' }), { found: false });
  await queue('publish', { subject: 'q', payload: { v: 1 } });
  assert.deepEqual(await asking(api, 'queueBus', 'tenant-b')('consume', { subject: 'q' }), { found: false });
  const first = await queue('consume', { subject: 'q' });
  assert.deepEqual(pick(first, ['found', 'subject', 'payload', 'deliveryCount']), [true, 'q', { v: 1 }, 1]);
  const { deliveryToken } = first;
  assert.equal((await queue('nack', { deliveryToken, requeue: true })).requeued, true);
  const again = await queue('consume', { subject: 'q' });
  assert.equal(again.deliveryCount, 2);
  const dead = await queue('deadLetter', { deliveryToken: again.deliveryToken, reason: 'poison' });
  assert.deepEqual(pick(dead, ['deadLettered', 'dlqSubject']), [true, 'q.dlq']);
  assert.equal((await queue('consume', { subject: 'q' })).found, false);
  const letter = await queue('consume', { subject: 'q.dlq' });
  assert.deepEqual(pick(letter.payload, ['original', 'deadLetterReason']), [{ v: 1 }, 'poison']);
  assert.equal((await queue('ack', { deliveryToken: letter.deliveryToken })).acked, true);
  const spent = await refusal(api, 'queueBus', 'ack', { deliveryToken: 'made-up' });
  assertError(spent, 400, 'queue_delivery_token_expired');
});

check('streams: what is there, from the beginning or not', async (api) => {
  const queue = asking(api, 'queueBus');
  for (const seq of [1, 2, 3]) await queue('streamPublish', { stream: 's', record: { seq } });
  const { records, fromBeginningSnapshot } = await queue('streamSubscribe', {
    stream: 's',
    fromBeginning: true,
  });
  assert.equal(fromBeginningSnapshot, true);
  assert.deepEqual(
    records.map(({ payload }: { payload: { seq: number } }) => payload.seq),
    [1, 2, 3],
  );
  assert.deepEqual(await queue('streamSubscribe', { stream: 's', fromBeginning: false }), {
    records: [],
    fromBeginningSnapshot: false,
  });
});

check('SQL: a transaction that fails leaves nothing; values in the text are refused', async (api) => {
  const sql = asking(api, 'sql');
  await sql('execute', { sql: 'create table t (id integer primary key, val text)', params: [] });
  const insert = 'insert into t(id, val) values (?, ?)';
  const statements = [1, 2, 1].map((id) => ({ sql: insert, params: [id, 'x'] }));
  assertError(await refusal(api, 'sql', 'transaction', { statements }), 400, 'sql_transaction_aborted');
  assert.deepEqual((await sql('query', { sql: 'select id from t', params: [] })).rows, []);
  const inlined = { sql: "select * from t where val = '' or '1' = '1'", params: [] };
  assertError(await refusal(api, 'sql', 'query', inlined), 400, 'sql_non_parametric');
});

check('what is not there is refused, never taken for a missing seam', async (api) => {
  assertError(await refusal(api, 'none', 'get', {}), 400, 'validation_error');
  assertError(await refusal(api, 'kv', 'none', {}), 400, 'host_capability_missing');
  assertError(await refusal(api, 'kv', 'get', { key: 7 }), 400, 'validation_error');
  assertError(await refusal(api, 'kv', '__proto__', {}), 400, 'host_capability_missing');
  assertError(await refusal(api, '__proto__', 'get', {}), 400, 'validation_error');
});

check('blobs come back as they were, to their tenant alone', async (api) => {
  const blob = asking(api, 'blob');
  assert.deepEqual(await blob('get', { key: 'none' }), { found: false });
  const contentBase64 = Buffer.from([0, 1, 254, 255]).toString('base64');
  await blob('put', { key: 'a', contentBase64, contentType: 'application/x-test' });
  const names = ['found', 'contentBase64', 'contentType', 'size'];
  const got = await blob('get', { key: 'a' });
  assert.deepEqual(pick(got, names), [true, contentBase64, 'application/x-test', 4]);
  assert.deepEqual(await asking(api, 'blob', 'tenant-b')('get', { key: 'a' }), { found: false });
});

check('files stay inside their folder', async (api) => {
  const fs = asking(api, 'fs');
  await fs('write', { path: 'dir/a.txt', contentBase64: Buffer.from('hello').toString('base64') });
  assert.equal((await fs('read', { path: 'dir/a.txt' })).contentBase64, 'aGVsbG8=');
  const there = await api.drive('fs/read', { path: 'dir/a.txt' });
  assert.equal(there.contentBase64, 'aGVsbG8=');
  for (const path of ['/etc/passwd', '../../etc/passwd', 'dir/../../x']) {
    assertError(await api.post('/v1/host/sample/fs/read', { path }), 400, 'path_outside_sandbox');
    assertError(await refusal(api, 'fs', 'write', { path, contentBase64: '' }), 400, 'path_outside_sandbox');
  }
  const theirs = { path: 'dir/a.txt', tenantId: 'tenant-b' };
  assertError(await api.post('/v1/host/sample/fs/read', theirs), 400, 'file_not_found');
});

check('the nearest vectors and the best documents come first, and no more than asked for', async (api) => {
  const vector = asking(api, 'vector');
  assert.deepEqual(await vector('query', { namespace: 'none', vector: [1, 0], topK: 1 }), { matches: [] });
  const items = [0, 1, 2, 3].map((n) => ({ id: `v${n}`, vector: [Math.cos(n), Math.sin(n)] }));
  await vector('upsert', { namespace: 'near', items });
  const { matches } = await vector('query', { namespace: 'near', vector: items[2]!.vector, topK: 1 });
  assert.deepEqual([matches.length, matches[0].id], [1, 'v2']);
  const search = asking(api, 'search');
  assert.deepEqual(await search('query', { index: 'none', q: 'x' }), { hits: [] });
  const docs = ['a primer on consensus', 'durable runs of a workflow', 'durable goods'].map((body, n) => ({
    id: `d${n}`,
    fields: { body },
  }));
  await search('index', { index: 'notes', docs });
  const { hits } = await search('query', { index: 'notes', q: 'durable workflow runs', k: 1 });
  assert.deepEqual([hits.length, hits[0].id], [1, 'd1']);
  const theirs = asking(api, 'search', 'tenant-b');
  assert.deepEqual(await theirs('query', { index: 'notes', q: 'durable' }), { hits: [] });
});

check('base64 that is none is refused, and nothing is written', async (api) => {
  for (const contentBase64 of ['a', 'aGk', 'aG k=', 'data:text/plain;base64,aGk=', 'not base64!', 'aGl=']) {
    assertError(await refusal(api, 'fs', 'write', { path: 'b', contentBase64 }), 400, 'validation_error');
    assertError(await refusal(api, 'blob', 'put', { key: 'b', contentBase64 }), 400, 'validation_error');
  }
  assertError(await refusal(api, 'fs', 'read', { path: 'b' }), 400, 'file_not_found');
  assert.deepEqual(await asking(api, 'blob')('get', { key: 'b' }), { found: false });
});

test('links on a host that listens: every driver gets to the object, and past its end nobody does', async (t) => {
  const folder = await temporaryFolder();
  const env = { GANTRY_ADMIN_KEY: TEST_KEY, GANTRY_LOG: 'silent', GANTRY_PORT: '0', GANTRY_TEST_SEAMS: '1' };
  const folders = { dataDir: folder.path, workflowsDir: folder.path };
  const host = await createHost({ settings: { ...readSettings([], env), ...folders } });
  t.after(async () => {
    await host.stop();
    await folder.remove();
  });
  const origin = await host.start();
  const blob = async (op: string, args: object) => {
    const call = { tenantId: 'tenant-a', surface: 'blob', op, args };
    const answer = await fetch(`${origin}/v1/host/sample/test/surface`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(call),
    });
    return (await answer.json()) as Record<string, string>;
  };
  await blob('put', { key: 'a b', contentBase64: 'aGk=', contentType: 'text/plain' });
  const { url } = await blob('presign', { key: 'a b', expiresInSeconds: 60 });
  assert.match(url ?? '', /^\/v1\/host\/gantry\/blobs\/artifacts\/a%20b\?/);
  const older = `${origin}${url}`;
  const newer = new URL(url!, origin).href;
  for (const link of [older, newer]) assert.equal(await (await fetch(link)).text(), 'hi');
  assert.equal((await fetch(older.replace(/expires=\d+/, 'expires=1'))).status, 403);
});

test('a link to another server stays whole', () => {
  const links = operationOf('blob', 'presign')?.gives;
  const urlOf = (url: string) => links?.({ url, expiresAt: 'then' }, {}, 'http://host.test/base');
  const own = '/v1/host/gantry/blobs/artifacts/k?signature=x';
  assert.deepEqual(urlOf(`http://host.test/base${own}`), { url: own, expiresAt: 'then' });
  for (const url of [`https://s3.test${own}`, 'http://host.test/base.other/k', own])
    assert.deepEqual(urlOf(url), { url, expiresAt: 'then' });
});

test('surfaces, as the public suite calls them', async (t) => {
  const api = await seamTest(t);
  for (const [name, run] of CHECKS) await t.test(name, () => run(api));
});

const pick = (value: Record<string, unknown>, names: readonly string[]): unknown[] =>
  names.map((name) => value[name]);
