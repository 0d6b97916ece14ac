import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { OpenwopError } from '@gantry/protocol';
import { freshTenant, read, write } from '../testing/calls.ts';
import { openGate } from '../testing/gate.ts';
import { openPrivateRedis, openTestRedis, privateRedisSkip, redisSkip } from '../testing/redis.ts';
import { openRedisDatabase } from './connection.ts';
import { redisKv } from './kv.ts';

const KEPT = { quotaBytes: 100_000, invocationRetentionMs: 60_000 };
const step = { namespace: '', key: 'n', delta: 1 };
const unavailable = { code: 'storage_unavailable' };

test('an unreachable server is named without its password', async () => {
  const database = openRedisDatabase({ url: 'redis://gantry:open-sesame@127.0.0.1:1/0' });
  await assert.rejects(database.health('volatile'), (error) => {
    assert.ok(error instanceof OpenwopError);
    assert.equal(error.code, 'storage_unavailable');
    assert.match(error.message, /127\.0\.0\.1:1 cannot be reached \(ECONNREFUSED\)/);
    assert.doesNotMatch(error.message, /open-sesame/);
    return true;
  });
});

test('a database that is no number is told at once, without the password', () => {
  for (const place of ['7161/abc', '7161/1/2', '7161/-1', '7161/0x1', '7161?db=abc'])
    assert.throws(
      () => openRedisDatabase({ url: `redis://:open-sesame@127.0.0.1:${place}` }),
      ({ message }: Error) => /is a number/.test(message) && !/open-sesame/.test(message),
      place,
    );
  for (const place of ['7161', '7161/', '7161/0', '7161/15', '7161?db=3'])
    openRedisDatabase({ url: `redis://127.0.0.1:${place}` });
});

test('what is no setting of an address is refused by its name: the driver would take it for an option', () => {
  for (const name of ['connectTimeout', 'tls', 'password', 'retryStrategy'])
    assert.throws(
      () => openRedisDatabase({ url: `redis://127.0.0.1:7161/0?${name}=1` }),
      new RegExp(`has no setting "${name}"; there is "db"`),
    );
});

async function throughGate(t: TestContext) {
  const server = await openTestRedis();
  const url = new URL(server.url);
  const gate = await openGate({ host: url.hostname, port: Number(url.port) });
  url.port = String(gate.port);
  const database = openRedisDatabase({ url: url.href });
  t.after(async () => {
    await database.close();
    await gate.close();
    await server.stop();
  });
  return { gate, database, kv: redisKv({ database, ...KEPT }) };
}

describe('a server that cannot be reached', { skip: redisSkip }, () => {
  test('I2: is unavailable while it is away, and usable when it is back', async (t) => {
    const { gate, database, kv } = await throughGate(t);
    const tenant = freshTenant();
    const call = write(tenant);
    await kv.increment(step, write(tenant));
    await gate.shut();
    await assert.rejects(database.health('volatile'), unavailable);
    await assert.rejects(kv.increment(step, call), unavailable);
    await gate.reopen();
    assert.equal((await kv.increment(step, call)).value, 2);
    assert.equal((await kv.increment(step, call)).value, 2);
  });

  test('I1: one that goes silent keeps nobody waiting for ever', async (t) => {
    const { gate, database } = await throughGate(t);
    await database.health('volatile');
    gate.hush();
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const asked = assert.rejects(database.health('volatile'), unavailable);
    // Until the command is on its way
    await setImmediate();
    t.mock.timers.tick(60_000);
    await asked;
    t.mock.timers.reset();
  });
});

describe('what a server keeps', { skip: privateRedisSkip }, () => {
  test('a server that is killed amid writes has each of them once when it is back, and its answer', async (t) => {
    const server = await openPrivateRedis();
    const database = openRedisDatabase(server);
    t.after(async () => {
      await database.close();
      await server.stop();
    });
    const kv = redisKv({ database, ...KEPT });
    const tenant = freshTenant();
    const calls = Array.from({ length: 300 }, () => write(tenant));
    const increment = () => Promise.allSettled(calls.map((call) => kv.increment(step, call)));
    await kv.increment(step, calls[0]!);
    const underWay = increment();
    await server.kill();
    await server.start();
    const answered = (await underWay).filter(({ status }) => status === 'fulfilled');
    const settled = await increment();
    assert.ok(settled.every(({ status }) => status === 'fulfilled'));
    assert.ok(answered.every((one) => settled.some((other) => isDeepStrictEqual(one, other))));
    assert.equal((await kv.get(step, read(tenant)))?.value, calls.length);
  });

  test('one that drops keys, or writes nothing to its disk, is refused by name', async (t) => {
    const forgetful = await openPrivateRedis('--appendonly', 'no');
    t.after(forgetful.stop);
    const database = openRedisDatabase(forgetful);
    t.after(database.close);
    await assert.rejects(database.health('durable'), { ...unavailable, message: /appendonly/ });
    assert.equal(await database.syncs(), 'always');
    const evicting = ['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru'];
    const dropping = await openPrivateRedis(...evicting);
    t.after(dropping.stop);
    const refusing = openRedisDatabase(dropping);
    await assert.rejects(refusing.health('volatile'), { ...unavailable, message: /noeviction/ });
    await assert.rejects(
      refusing.ask((redis) => redis.ping()),
      { ...unavailable, message: /noeviction/ },
    );
  });

  test('one that is full refuses a write whole', async (t) => {
    const server = await openPrivateRedis('--requirepass', 'sesame');
    t.after(server.stop);
    const stranger = openRedisDatabase(server);
    await assert.rejects(stranger.health('volatile'), {
      ...unavailable,
      message: /asks for a password \(NOAUTH\)\. Put it/,
    });
    const database = openRedisDatabase({ url: server.url.replace('//', '//:sesame@') });
    t.after(database.close);
    const kv = redisKv({ database, ...KEPT });
    const tenant = freshTenant();
    await kv.increment(step, write(tenant));
    await database.ask((redis) => redis.config('SET', 'maxmemory', '1mb'));
    const call = write(tenant);
    await assert.rejects(kv.increment(step, call), {
      ...unavailable,
      trouble: 'away',
      message: /\(OOM: its memory is full; raise maxmemory\)/,
    });
    assert.equal((await kv.get(step, read(tenant)))?.value, 1);
    await database.ask((redis) => redis.config('SET', 'maxmemory', '0'));
    assert.equal((await kv.increment(step, call)).value, 2);
  });
});
