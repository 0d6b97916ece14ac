import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { openSqlite } from '@gantry/store';
import { pino } from 'pino';
import { hashSecret } from './auth.ts';
import { callerOf } from './context.ts';
import { randomBytes } from './random-bytes.ts';
import { createServer } from './server.ts';

const BODY_BYTES_MAX = 1_000_000;

test('of large bodies a tenant has one at work at a time, and holds up neither its small ones nor others', async (t) => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'gantry-test-'));
  const store = await openSqlite({ dataDir });
  for (const tenant of ['a', 'b']) {
    const dates = { createdAt: 0, expiresAt: null, revokedAt: null };
    const record = {
      keyId: `key_${tenant}`,
      tenant,
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
