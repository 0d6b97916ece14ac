/** Who has a process when, with processes that only say so. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import type { Pooled, Use } from './pool.ts';
import { Pool } from './pool.ts';

/** Gone a turn after it was killed, as real ones are. */
function processOf(onEnd: () => void): Pooled {
  const ended = Promise.withResolvers<void>();
  let isDead = false;
  return {
    get isDead() {
      return isDead;
    },
    opened: Promise.resolve(),
    ended: ended.promise,
    kill() {
      if (isDead) return;
      isDead = true;
      setImmediate(() => {
        onEnd();
        ended.resolve();
      });
    },
    sleep() {},
    wake() {},
  };
}

interface World {
  readonly pool: Pool<Pooled>;
  /** Tenants, in the order in which their work began. */
  readonly begun: string[];
  /** Resolves with what ends the work, when it has begun. */
  work(tenant: string, use?: Use, pack?: string): Promise<() => void>;
  clock: number;
}

function world(t: Pick<TestContext, 'after'>, warmMax: number, shareMax: number): World {
  const begun: string[] = [];
  const made: World = {
    pool: new Pool({ warmMax, shareMax, idleMs: 60_000, now: () => made.clock }),
    begun,
    clock: 0,
    work: (tenant, use = 'exclusive', pack = 'p') =>
      new Promise((resolve) => {
        const wanted = { key: `${tenant} ${pack}`, tenant, use, start: processOf };
        const work = (): Promise<void> => {
          begun.push(tenant);
          return new Promise((end) => resolve(end));
        };
        // What still waits when the test ends is told so
        made.pool.use(wanted, work).catch(() => {});
      }),
  };
  t.after(() => made.pool.stop());
  return made;
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Until nothing moves any more. */
async function settled(): Promise<void> {
  for (let turns = 0; turns < 10; turns++) await turn();
}

test('a tenant has its share and no more, also where nobody else is', async (t) => {
  const { work, begun, pool } = world(t, 4, 2);
  for (let index = 0; index < 6; index++) void work('a');
  await settled();
  assert.deepEqual([begun.length, pool.stats().waiting], [2, 4]);
  void work('b');
  await settled();
  assert.deepEqual(begun, ['a', 'a', 'b']);
});

test('where all processes are at work, the next one goes to who has the fewest, then by turns', async (t) => {
  const { work, begun } = world(t, 3, 2);
  const ends = [work('a'), work('a'), work('b')];
  for (const tenant of ['a', 'a', 'b', 'b', 'a', 'c', 'c']) ends.push(work(tenant));
  await settled();
  (await ends[0])?.();
  await settled();
  assert.deepEqual(begun, ['a', 'a', 'b', 'c'], 'c had none');
  (await ends[1])?.();
  await settled();
  assert.deepEqual(begun.slice(4), ['a'], 'it has none now, b and c have one each');
  (await ends[2])?.();
  await settled();
  assert.deepEqual(begun.slice(5), ['b']);
});

test('newcomers that share are let in, until a stranger has waited long', async (t) => {
  const made = world(t, 1, 1);
  const { work, begun } = made;
  const first = await work('a', 'shared');
  void work('b');
  const second = await work('a', 'shared');
  made.clock = 1_000;
  void work('a', 'shared');
  await settled();
  assert.deepEqual(begun, ['a', 'a']);
  first();
  second();
  await settled();
  assert.deepEqual(begun, ['a', 'a', 'b']);
});

test('one who waits for its own share holds up nobody else', async (t) => {
  const made = world(t, 4, 1);
  const { work, begun } = made;
  await work('a');
  void work('a');
  await work('b', 'shared');
  made.clock = 5_000;
  void work('b', 'shared');
  void work('c');
  await settled();
  assert.deepEqual(begun, ['a', 'b', 'b', 'c']);
});

test('what cannot be started fails alone', async (t) => {
  const { pool, work, begun } = world(t, 1, 1);
  const end = await work('a');
  const broken = pool.use(
    {
      key: 'k',
      tenant: 'b',
      use: 'exclusive',
      start: () => {
        throw new Error('no more processes');
      },
    },
    async () => assert.fail('it never began'),
  );
  void work('c');
  end();
  await assert.rejects(broken, /no more processes/);
  await settled();
  assert.deepEqual(begun, ['a', 'c']);
});

const USES = fc.constantFrom<Use>('shared', 'exclusive', 'alone');
const WORK = fc.record({
  tenant: fc.constantFrom('a', 'b', 'c'),
  pack: fc.constantFrom('p', 'q'),
  use: USES,
});

/** Does all of it, and looks at the bounds whenever something begins. */
async function allOf(
  { pool, work }: World,
  works: readonly { tenant: string; pack: string; use: Use }[],
  max: number,
) {
  const own = new Map<string, number>();
  const count = (tenant: string, by: number): number => {
    own.set(tenant, (own.get(tenant) ?? 0) + by);
    return own.get(tenant) ?? 0;
  };
  const ends = works.map(async ({ tenant, use, pack }) => {
    const end = await work(tenant, use, pack);
    const weight = use === 'shared' ? 0 : 1;
    assert.ok(count(tenant, weight) <= Math.ceil(max / 2), 'more than its share');
    assert.ok(pool.stats().warm <= max, 'more than there may be');
    await turn();
    count(tenant, -weight);
    end();
  });
  await Promise.all(ends);
}

test('whatever comes, all of it has its turn, and the bounds hold', async () => {
  const count = fc.integer({ min: 1, max: 4 });
  await fc.assert(
    fc.asyncProperty(fc.array(WORK, { maxLength: 40 }), count, async (works, max) => {
      const made = world({ after: () => {} }, max, Math.ceil(max / 2));
      await allOf(made, works, max);
      await made.pool.stop();
      assert.equal(made.begun.length, works.length);
    }),
    { numRuns: 50 },
  );
});
