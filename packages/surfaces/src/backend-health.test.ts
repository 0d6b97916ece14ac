import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHealth, type ServedBackend } from './backend-health.ts';

/** Backends of which each counts how often it was looked at. */
function watched(backends: Readonly<Record<string, ServedBackend['backend']>>) {
  const clock = { now: 0 };
  const looks: Record<string, number> = {};
  const served = Object.entries(backends).map(([name, backend]): ServedBackend => {
    looks[name] = 0;
    const health = async (): Promise<void> => {
      looks[name]! += 1;
      await backend.health();
    };
    return { capability: name, name, setting: name, backend: { ...backend, health } };
  });
  return { clock, looks, health: createHealth(served, () => clock.now) };
}

const well = async (): Promise<void> => {};
const away = async (): Promise<void> => {
  throw new Error('gone');
};

test('who asks soon after, or while a look is under way, is told what that look found', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { clock, looks, health } = watched({ kv: { kind: 'postgres', health: () => promise } });
  const asked = Promise.all([health(), health()]);
  clock.now = 60_000;
  const late = health();
  resolve();
  const up = [{ capability: 'kv', backend: 'postgres', state: 'up' }];
  assert.deepEqual([...(await asked), await late, await health()], [up, up, up, up]);
  assert.equal(looks.kv, 1);
  clock.now += 4_999;
  await health();
  assert.equal(looks.kv, 1);
  clock.now += 1;
  await health();
  assert.equal(looks.kv, 2);
});

test('what someone should mend is looked at anew, and nothing else is', async () => {
  const warning = async () => 'its user may do too much.';
  const { looks, health } = watched({
    kv: { kind: 'postgres', health: away },
    sql: { kind: 'postgres', health: well, warning },
    cache: { kind: 'embedded', health: well },
  });
  for (let round = 0; round < 3; round++) {
    const found = await health();
    assert.deepEqual(
      found.map(({ state }) => state),
      ['rejected', 'up', 'up'],
    );
  }
  assert.deepEqual(looks, { kv: 3, sql: 3, cache: 1 });
});

test('a clock that was set back does not keep a backend well', async () => {
  const { clock, looks, health } = watched({ kv: { kind: 'postgres', health: well } });
  await health();
  clock.now = -3_600_000;
  await health();
  assert.equal(looks.kv, 2);
});
