/** I3 of `connection.ts`: the database that is asked for, or none. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, type TestContext, test } from 'node:test';
import { ServerError } from '../backend-errors.ts';
import { freshTenant, write } from '../testing/calls.ts';
import { openPrivateRedis, privateRedisSkip } from '../testing/redis.ts';
import { openRedisDatabase } from './connection.ts';
import { redisKv } from './kv.ts';

const step = { namespace: '', key: 'n', delta: 1 };

async function world(t: TestContext) {
  const server = await openPrivateRedis();
  const open = (user: string, database: number) => {
    const opened = openRedisDatabase({
      url: server.url.replace('//', `//${user}`).replace(/0$/, `${database}`),
    });
    t.after(opened.close);
    const kv = redisKv({ database: opened, quotaBytes: 100_000, invocationRetentionMs: 60_000 });
    return { ...opened, increment: (call = write(freshTenant())) => kv.increment(step, call) };
  };
  const admin = open('', 0);
  t.after(server.stop);
  return {
    open,
    /** Of the user `gantry`, whose password is `sesame`. */
    grant: (...rights: string[]) =>
      admin.ask((redis) =>
        redis.call('ACL', 'SETUSER', 'gantry', 'on', '>sesame', '~*', '&*', '+@all', ...rights),
      ),
    cutOthers: () => admin.ask((redis) => redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')),
    keysOfFirst: () => admin.ask((redis) => redis.dbsize()),
  };
}

const refusedWith = (why: RegExp) => (error: unknown) => {
  assert.ok(error instanceof ServerError && error.trouble === 'refused for good', String(error));
  assert.equal(error.code, 'storage_unavailable');
  assert.match(error.message, why);
  assert.doesNotMatch(error.forPack().message, /127|sesame/);
  return true;
};
const MISSING = /does not have the database that the setting names/;
const BARRED = /does not let the user use the database/;

describe('the database of a Redis server', { skip: privateRedisSkip }, () => {
  test('one that is missing is refused, and nothing goes to another', async (t) => {
    const { open, keysOfFirst } = await world(t);
    const missing = open('', 99);
    await assert.rejects(missing.health('durable'), refusedWith(MISSING));
    await assert.rejects(missing.increment(), refusedWith(MISSING));
    await assert.rejects(missing.increment(), refusedWith(MISSING));
    assert.equal(await keysOfFirst(), 0);
    assert.equal((await open('', 15).increment()).value, 1);
    assert.equal(await keysOfFirst(), 0);
  });

  test('one that the user may not choose is refused, until it may', async (t) => {
    const { open, grant, keysOfFirst } = await world(t);
    await grant('-select');
    const barred = open('gantry:sesame@', 5);
    await assert.rejects(barred.increment(), refusedWith(BARRED));
    await grant();
    assert.equal((await barred.increment()).value, 1);
    assert.equal(await keysOfFirst(), 0);
  });

  test('one that is taken away is refused on the next connection, also to who waits for it', async (t) => {
    const { open, grant, cutOthers, keysOfFirst } = await world(t);
    await grant();
    const database = open('gantry:sesame@', 5);
    const tenant = freshTenant();
    await database.increment(write(tenant));
    await grant('-select');
    const cut = database.ask(async (redis) => void (await once(redis, 'reconnecting')));
    await cutOthers();
    await cut;
    const call = write(tenant);
    for (let times = 0; times < 3; times++)
      await assert.rejects(database.increment(call), refusedWith(BARRED));
    await assert.rejects(database.health('volatile'), refusedWith(BARRED));
    assert.equal(await keysOfFirst(), 0);
    await grant();
    assert.equal((await database.increment(call)).value, 2);
  });

  test('a right that is taken away is a refusal that says so, and no outage', async (t) => {
    const { open, grant } = await world(t);
    await grant();
    const database = open('gantry:sesame@', 5);
    await database.increment();
    await grant('-evalsha');
    await assert.rejects(
      database.increment(),
      refusedWith(/run EVALSHA, or not on the keys gantry:\* \(NOPERM\)/),
    );
    await grant('-hset', '-zadd');
    await assert.rejects(database.increment(), refusedWith(/run a command that is needed, or not on/));
    await assert.rejects(database.health('volatile'), refusedWith(/run HSET, ZADD, or not on/));
    await grant();
    assert.equal((await database.increment()).value, 1);
  });

  test('the rights that the documentation lists are enough', async (t) => {
    const { open, grant } = await world(t);
    await grant('-@all', '+@read', '+@write', '+@connection', '-@dangerous', '+eval', '+evalsha');
    const database = open('gantry:sesame@', 5);
    await database.health('durable');
    assert.equal((await database.increment()).value, 1);
    assert.equal(await database.syncs(), 'unknown');
    await grant('resetkeys', '~other:*');
    await assert.rejects(database.health('volatile'), refusedWith(/on the keys gantry:\*/));
  });

  test('a wrong password stays a wrong password', async (t) => {
    const { open, grant } = await world(t);
    await grant();
    await assert.rejects(
      open('gantry:wrong@', 5).increment(),
      refusedWith(/refuses the user or the password/),
    );
  });
});
