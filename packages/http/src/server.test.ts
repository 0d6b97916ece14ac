import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { openSqlite } from '@gantry/store';
import { pino } from 'pino';
import { randomBytes } from './random-bytes.ts';
import { createServer } from './server.ts';

test('a connection whose request is answered while the server closes is not kept', {
  timeout: 30_000,
}, async (t) => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'gantry-test-'));
  const store = await openSqlite({ dataDir });
  t.after(async () => {
    await store.close();
    await rm(dataDir, { recursive: true });
  });
  const { app } = createServer({
    store,
    randomBytes,
    now: () => 0,
    log: pino({ level: 'silent' }),
    access: { 'GET /slow': 'public' },
    maxRequestBodyBytes: 1_000,
  });
  const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  app.get('/slow', async () => {
    begun.resolve();
    await end.promise;
    return { done: true };
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const answer = fetch(`${url}/slow`);
  await begun.promise;
  const closed = app.close();
  while (app.server.listening) await setImmediate();
  end.resolve();
  assert.deepEqual(await (await answer).json(), { done: true });
  await closed;
});
