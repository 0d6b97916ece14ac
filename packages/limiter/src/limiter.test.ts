import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Limiter, type LimiterClock, LimiterError, limiter, type Release } from './limiter.ts';

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
const refused = (reason: string) => (error: unknown) =>
  error instanceof LimiterError && error.reason === reason;

/** Time that moves when a test says so. */
function manualClock(): LimiterClock & { advance(ms: number): void } {
  const timers = new Set<{ at: number; run: () => void }>();
  let now = 0;
  return {
    after(ms, run) {
      const timer = { at: now + ms, run };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    advance(ms) {
      now += ms;
      for (const timer of [...timers].filter(({ at }) => at <= now)) {
        timers.delete(timer);
        timer.run();
      }
    },
  };
}

/** Acquires in the background and notes the order of the grants. */
function user(limited: Limiter, granted: string[]) {
  const releases = new Map<string, Release>();
  return {
    releases,
    ask(name: string, weight = 1, signal?: AbortSignal) {
      const answer = limited.acquire(name[0]!, { weight, signal }).then((release) => {
        granted.push(name);
        releases.set(name, release);
      });
      answer.catch(() => {});
      return answer;
    },
  };
}

test('a tenant that comes late is served before the backlog of another', async () => {
  const granted: string[] = [];
  const { ask, releases } = user(limiter({ max: 2 }), granted);
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2']) ask(name);
  await settled();
  assert.deepEqual(granted, ['a1', 'a2']);
  releases.get('a1')!();
  releases.get('a2')!();
  await settled();
  assert.deepEqual(granted, ['a1', 'a2', 'b1', 'a3']);
});

test('tenants that hold the same take turns', async () => {
  const granted: string[] = [];
  const { ask, releases } = user(limiter({ max: 1 }), granted);
  for (const name of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) ask(name);
  for (let turns = 0; turns < 5; turns++) {
    await settled();
    releases.get(granted.at(-1)!)!();
  }
  await settled();
  assert.deepEqual(granted, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
});

test('of tenants that hold something, the one that holds least is next', async () => {
  const granted: string[] = [];
  const { ask, releases } = user(limiter({ max: 7 }), granted);
  for (const [name, weight] of [
    ['a1', 1],
    ['b1', 2],
    ['c1', 3],
    ['d1', 1],
    ['c2', 1],
    ['a2', 1],
    ['b2', 1],
  ] as const)
    ask(name, weight);
  await settled();
  releases.get('d1')!();
  await settled();
  assert.deepEqual(granted, ['a1', 'b1', 'c1', 'd1', 'a2']);
});

test('a waiter whose tenant is at its maximum holds up nobody', async () => {
  const granted: string[] = [];
  const { ask, releases } = user(limiter({ max: 4, perTenantMax: 2 }), granted);
  for (const name of ['a1', 'a2', 'b1', 'a3']) ask(name);
  await settled();
  assert.deepEqual(granted, ['a1', 'a2', 'b1']);
  releases.get('b1')!();
  await settled();
  assert.equal(granted.includes('a3'), false);
  releases.get('a2')!();
  await settled();
  assert.equal(granted.at(-1), 'a3');
});

test('a heavy waiter at the front is not overtaken by light ones', async () => {
  const granted: string[] = [];
  const { ask, releases } = user(limiter({ max: 4 }), granted);
  ask('a1', 3);
  ask('b1', 4);
  ask('c1', 1);
  await settled();
  assert.deepEqual(granted, ['a1']);
  releases.get('a1')!();
  await settled();
  releases.get('b1')!();
  await settled();
  assert.deepEqual(granted, ['a1', 'b1', 'c1']);
});

test('work that throws gives its slot back', async () => {
  const limited = limiter({ max: 1 });
  const fail = () => Promise.reject(new Error('broken'));
  await assert.rejects(limited.run('a', fail), /broken/);
  const throwNow = () => {
    throw new Error('at once');
  };
  await assert.rejects(limited.run('a', throwNow), /at once/);
  assert.equal(await limited.run('a', () => 7), 7);
  assert.deepEqual(limited.stats(), { held: 0, waiting: 0 });
});

test('a waiter that leaves lets the next one in, and its reason is its own', async () => {
  const granted: string[] = [];
  const limited = limiter({ max: 4 });
  const { ask, releases } = user(limited, granted);
  ask('a1', 2);
  const controller = new AbortController();
  const heavy = ask('b1', 4, controller.signal);
  ask('c1', 1);
  await settled();
  controller.abort(new Error('gone'));
  await assert.rejects(heavy, /gone/);
  assert.deepEqual(granted, ['a1', 'c1']);
  for (const release of releases.values()) release();
  assert.deepEqual(limited.stats(), { held: 0, waiting: 0 });
  await assert.rejects(limited.acquire('a', { signal: controller.signal }), /gone/);
});

test('waiting ends after its time, with a reason', async () => {
  const clock = manualClock();
  const limited = limiter({ max: 1, waitMs: 100, clock });
  const release = await limited.acquire('a');
  const late = limited.acquire('b');
  clock.advance(99);
  assert.equal(limited.stats().waiting, 1);
  clock.advance(1);
  await assert.rejects(late, refused('timeout'));
  const inTime = limited.acquire('b');
  release();
  clock.advance(1_000);
  (await inTime)();
  assert.deepEqual(limited.stats(), { held: 0, waiting: 0 });
});

test('what can never fit, a full line and a closed limiter are refused', async () => {
  const limited = limiter({ max: 4, perTenantMax: 2, waitingPerTenantMax: 1 });
  await assert.rejects(limited.acquire('a', { weight: 3 }), refused('too-heavy'));
  const release = await limited.acquire('a', { weight: 2 });
  const waits = limited.acquire('a');
  await assert.rejects(limited.acquire('a'), refused('queue-full'));
  assert.equal(limited.tryAcquire('a'), undefined);
  limited.close();
  await assert.rejects(waits, refused('closed'));
  assert.throws(() => limited.tryAcquire('b'), refused('closed'));
  release();
  release();
  assert.deepEqual(limited.stats(), { held: 0, waiting: 0 });
});

type Step =
  | { readonly do: 'ask'; readonly tenant: string; readonly weight: number }
  | { readonly do: 'release' | 'abort'; readonly which: number }
  | { readonly do: 'wait'; readonly ms: number };

const which = fc.nat(50);
const steps = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant('ask' as const),
        tenant: fc.constantFrom('a', 'b', 'c', 'd'),
        weight: fc.integer({ min: 1, max: 3 }),
      }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('release' as const), which }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('abort' as const), which }) },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 40 }) }),
    },
  ),
  { maxLength: 80 },
);

interface Asked {
  readonly tenant: string;
  readonly weight: number;
  readonly controller: AbortController;
  state: 'waiting' | 'held' | 'over';
  release?: Release;
}

/** A limiter, and all that was asked of it, with what must be true after every step. */
function observed(max: number, perTenantMax: number) {
  const clock = manualClock();
  const limited = limiter({ max, perTenantMax, waitMs: 100, clock });
  const all: Asked[] = [];
  const held = (tenant?: string) =>
    all
      .filter((asked) => asked.state === 'held' && (!tenant || asked.tenant === tenant))
      .reduce((sum, { weight }) => sum + weight, 0);
  const waiting = () => all.filter(({ state }) => state === 'waiting');
  /** The first waiter of each tenant that is below its own maximum. */
  const eligible = () =>
    ['a', 'b', 'c', 'd']
      .map((tenant) => waiting().find((asked) => asked.tenant === tenant))
      .filter((first) => first !== undefined && held(first.tenant) + first.weight <= perTenantMax)
      .map((first) => first!);

  function granted(asked: Asked, release: Release): void {
    assert.equal(
      asked,
      waiting().find(({ tenant }) => tenant === asked.tenant),
      'in the order of arrival',
    );
    for (const other of eligible())
      assert.ok(held(asked.tenant) <= held(other.tenant), `${asked.tenant} has more than ${other.tenant}`);
    asked.state = 'held';
    asked.release = release;
  }

  return {
    clock,
    all,
    ask(tenant: string, weight: number) {
      const asked: Asked = { tenant, weight, controller: new AbortController(), state: 'waiting' };
      all.push(asked);
      limited.acquire(tenant, { weight, signal: asked.controller.signal }).then(
        (release) => granted(asked, release),
        () => {
          asked.state = 'over';
        },
      );
    },
    check() {
      assert.ok(
        held() <= max && all.every(({ tenant }) => held(tenant) <= perTenantMax),
        'within the limits',
      );
      assert.deepEqual(limited.stats(), { held: held(), waiting: waiting().length });
      const fewest = Math.min(...eligible().map(({ tenant }) => held(tenant)));
      const fits = eligible().filter(
        ({ tenant, weight }) => held(tenant) === fewest && held() + weight <= max,
      );
      // Of tenants that hold the same, the one whose turn it is may be too heavy for what is free
      const isBlocked = eligible().some(
        ({ tenant, weight }) => held(tenant) === fewest && held() + weight > max,
      );
      assert.ok(fits.length === 0 || isBlocked, 'nobody waits for a slot that is free');
    },
    stats: () => limited.stats(),
  };
}

test('any order of asking, releasing, leaving and waiting keeps the limits and the turns', async () => {
  await fc.assert(
    fc.asyncProperty(
      steps,
      fc.integer({ min: 3, max: 8 }),
      fc.integer({ min: 3, max: 8 }),
      async (plan, max, own) => {
        const world = observed(max, Math.min(own, max));
        const pick = (state: Asked['state'], index: number) => {
          const found = world.all.filter((asked) => asked.state === state);
          return found[index % Math.max(1, found.length)];
        };
        const act = (step: Step): void => {
          if (step.do === 'ask') world.ask(step.tenant, step.weight);
          else if (step.do === 'wait') world.clock.advance(step.ms);
          else if (step.do === 'abort') pick('waiting', step.which)?.controller.abort();
          else {
            const asked = pick('held', step.which);
            if (!asked) return;
            asked.state = 'over';
            asked.release?.();
          }
        };
        for (const step of plan) {
          act(step);
          await settled();
          world.check();
        }
        for (let asked = pick('held', 0); asked; asked = pick('held', 0)) {
          asked.state = 'over';
          asked.release?.();
          await settled();
        }
        assert.deepEqual(world.stats(), { held: 0, waiting: 0 });
      },
    ),
    { numRuns: 300 },
  );
});

test('what is held beyond the maximum of a tenant takes nothing from the others', () => {
  const slots = limiter({ max: 200, perTenantMax: 100 });
  const release = slots.hold('greedy', 1_000);
  assert.equal(slots.tryAcquire('greedy', 1), undefined);
  assert.ok(slots.tryAcquire('modest', 100));
  assert.equal(slots.stats().held, 200);
  release();
  release();
  assert.equal(slots.stats().held, 100);
  assert.ok(slots.tryAcquire('greedy', 100));
});
