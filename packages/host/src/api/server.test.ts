import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { openSqlite, type Store, StoreError } from '@gantry/store';
import { temporaryFolder } from '../testing/host-process.ts';
import { onePerFile } from '../testing/one-per-file.ts';
import { apiTest, assertError, assertPublic } from './testing/api-test.ts';

const openApi = onePerFile(apiTest);

test('paths and methods that are not served say so', async () => {
  const api = await openApi();
  assertError(await api.get('/v1/nothing'), 404, 'not_found');
  assertError(await api.get('/runs'), 400, 'validation_error');
  assertError(await api.get('/v2/runs'), 400, 'validation_error');
  assertError(await api.get('/v1/runs/%zz'), 400, 'validation_error');
  const wrong = await api.request({ method: 'PUT', url: '/v1/runs/x' });
  assertError(wrong, 405, 'method_not_allowed');
  assert.equal(wrong.headers.allow, 'GET');
  const verb = await api.get('/v1/runs/x:pause');
  assertError(verb, 405, 'method_not_allowed');
  assert.equal(verb.headers.allow, 'POST');
});

test('an unknown verb is not taken for a run', async () => {
  const api = await openApi();
  assertError(await api.post('/v1/runs/x:explode'), 404, 'not_found');
});

test('what is not HTTP gets the envelope too', async () => {
  const api = await openApi();
  const url = new URL(await api.host.start());
  const socket = connect(Number(url.port), url.hostname);
  socket.end('NONSENSE\r\n\r\n');
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
  assert.match(head, /^HTTP\/1\.1 400 /);
  assertPublic('error-envelope.schema.json', JSON.parse(body));
});

test('health and readiness', async (t) => {
  const api = await apiTest(t);
  const anonymous = { authorization: '' };
  assert.equal((await api.get('/healthz', anonymous)).statusCode, 200);
  const early = await api.get('/readyz', anonymous);
  assertError(early, 503, 'service_unavailable', { retryAfter: 1 });
  assert.equal(early.headers['retry-after'], '1');
  await api.host.start();
  assert.equal((await api.get('/readyz', anonymous)).statusCode, 200);
  assert.equal((await api.request({ method: 'HEAD', url: '/healthz' })).statusCode, 200);
});

/** A store whose commits fail as told, once told. */
async function failingStore(): Promise<{
  store: Store;
  failWith(error: Error): void;
  remove(): Promise<void>;
}> {
  const folder = await temporaryFolder();
  const store = await openSqlite({ dataDir: folder.path });
  let failure: Error | undefined;
  const commit: Store['commit'] = async (groups) => {
    if (failure) throw failure;
    return store.commit(groups);
  };
  const close = async (): Promise<void> => {
    await store.close();
    await folder.remove();
  };
  return {
    store: { ...store, commit, close },
    failWith: (error) => {
      failure = error;
    },
    remove: folder.remove,
  };
}

test('a disk that is full is told apart from a bug, and neither leaks what is inside', async (t) => {
  const { store, failWith } = await failingStore();
  const api = await apiTest(t, { store });
  failWith(new StoreError('disk_full', 'No space on /secret/place.'));
  const full = await api.post('/v1/runs', { workflowId: 'three' });
  assertError(full, 503, 'storage_unavailable');
  assert.match(String(full.headers['retry-after']), /^\d+$/);
  assert.ok(!full.body.includes('/secret/place'));
  failWith(new Error('boom at /secret/place'));
  const bug = await api.post('/v1/runs', { workflowId: 'three' });
  assertError(bug, 500, 'internal_error');
  assert.ok(bug.json().details.correlationId.length > 0);
  assert.ok(!bug.body.includes('boom'));
});

test('every answer carries the trace it belongs to', async () => {
  const api = await openApi();
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const answer = await api.get('/healthz', { traceparent: `00-${traceId}-00f067aa0ba902b7-01` });
  assert.match(String(answer.headers.traceparent), new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));
  const refused = await api.get('/v1/runs/x', { authorization: '', traceparent: 'nonsense' });
  assert.match(String(refused.headers.traceparent), /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
});
