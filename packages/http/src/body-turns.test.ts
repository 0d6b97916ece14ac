import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { openSqlite } from '@gantry/store';
import { pino } from 'pino';
import { type Api, callerOf } from './context.ts';
import { hashSecret } from './key-secret.ts';
import { randomBytes } from './random-bytes.ts';
import { createServer } from './server.ts';

const BODY_BYTES_MAX = 1_000_000;

async function serve(t: TestContext): Promise<Api> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'gantry-test-'));
  const store = await openSqlite({ dataDir });
  for (const tenant of ['a', 'b']) {
    const dates = { createdAt: 0, expiresAt: null, revokedAt: null };
    const record = {
      keyId: `key_${tenant}`,
      tenant,
      workspace: 'default',
      principal: `principal_${tenant}`,
      name: tenant,
      hash: hashSecret(tenant),
      scopes: [],
      ...dates,
    };
    await store.commit([[{ kind: 'putKey', record }]]);
  }
  const { app } = createServer({
    store,
    randomBytes,
    now: () => 0,
    log: pino({ level: 'silent' }),
    access: { 'POST /work': [] },
    maxRequestBodyBytes: BODY_BYTES_MAX,
  });
  t.after(async () => {
    await app.close();
    await store.close();
    await rm(dataDir, { recursive: true });
  });
  return app;
}

test('of large bodies a tenant has one at work at a time, and holds up neither its small ones nor others', async (t) => {
  const app = await serve(t);
  const atWork = new Map<string, (() => void)[]>();
  let begun = Promise.withResolvers<void>();
  app.post('/work', async (request) => {
    const { tenant } = callerOf(request);
    const end = Promise.withResolvers<void>();
    atWork.set(tenant, [...(atWork.get(tenant) ?? []), end.resolve]);
    begun.resolve();
    await end.promise;
    return {};
  });
  const post = (tenant: string, bytes: number) =>
    app.inject({
      method: 'POST',
      url: '/work',
      payload: JSON.stringify('x'.repeat(bytes)),
      headers: { authorization: `Bearer ${tenant}`, 'content-type': 'application/json' },
    });
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) {
      await begun.promise;
      begun = Promise.withResolvers();
    }
  };
  const of = (tenant: string): (() => void)[] => atWork.get(tenant) ?? [];

  const large = Array.from({ length: 4 }, () => post('a', BODY_BYTES_MAX - 2));
  await until(() => of('a').length === 1);
  const small = post('a', 10);
  const other = post('b', BODY_BYTES_MAX - 2);
  await until(() => of('a').length === 2 && of('b').length === 1);
  for (let ended = 0; ended < 5; ended++) {
    await until(() => of('a').length > ended);
    assert.ok(of('a').length <= ended + 2, 'one large body, and the small one');
    of('a')[ended]?.();
    await (ended === 0 ? large[0] : new Promise(setImmediate));
  }
  of('b')[0]?.();
  for (const { statusCode } of await Promise.all([...large, small, other])) assert.equal(statusCode, 200);
});

test('clients that go away, while they wait or while they are served, leave no share behind', async (t) => {
  const app = await serve(t);
  const end = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  let served = 0;
  app.post('/work', async () => {
    served++;
    begun.resolve();
    await end.promise;
    return {};
  });
  const url = new URL('/work', await app.listen({ port: 0 }));
  const body = JSON.stringify('x'.repeat(BODY_BYTES_MAX - 2));
  const headers = { authorization: 'Bearer a', 'content-type': 'application/json' };
  const post = (signal?: AbortSignal): Promise<Response> =>
    fetch(url, { method: 'POST', body, headers, ...(signal && { signal }) });

  const [first, second] = [new AbortController(), new AbortController()];
  const working = assert.rejects(post(first.signal), { name: 'AbortError' });
  await begun.promise;
  const parsed = once(app.server, 'request');
  const waiting = assert.rejects(post(second.signal), { name: 'AbortError' });
  const [{ socket }] = await parsed;
  second.abort();
  await once(socket, 'close');
  first.abort();
  await Promise.all([working, waiting]);
  end.resolve();
  assert.equal((await post()).status, 200);
  assert.equal(served, 2, 'what nobody waits for is not done');
});

test('a large body that is not JSON leaves no share behind', async (t) => {
  const app = await serve(t);
  app.post('/work', async () => ({}));
  const url = new URL('/work', await app.listen({ port: 0 }));
  const headers = { authorization: 'Bearer a', 'content-type': 'application/json' };
  const post = (body: string): Promise<Response> => fetch(url, { method: 'POST', body, headers });
  for (let round = 0; round < 2; round++) {
    assert.equal((await post('{'.repeat(BODY_BYTES_MAX - 2))).status, 400);
    assert.equal((await post(JSON.stringify('x'.repeat(BODY_BYTES_MAX - 2)))).status, 200);
  }
});
