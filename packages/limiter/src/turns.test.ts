import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTurns, type TurnsClock } from './turns.ts';

/** Rounds that the test begins, and time that only work takes. */
function manualClock() {
  let now = 0;
  let next: (() => void)[] = [];
  const clock: TurnsClock = { nowMs: () => now, nextRound: (run) => void next.push(run) };
  return {
    clock,
    spend: (ms: number) => {
      now += ms;
    },
    async round(): Promise<void> {
      const due = next;
      next = [];
      for (const run of due) {
        run();
        await new Promise(setImmediate);
      }
    },
  };
}

test('work is done at once while the round is young, and errors come out as they are', () => {
  const { clock } = manualClock();
  const turns = createTurns({ clock });
  assert.equal(
    turns.take('a', () => 7),
    7,
  );
  assert.throws(
    () =>
      turns.take('a', () => {
        throw new Error('broken');
      }),
    /broken/,
  );
  assert.equal(
    turns.take('b', () => 8),
    8,
  );
});

test('what does not fit into a round waits for the next, and tenants take turns', async () => {
  const { clock, spend, round } = manualClock();
  const turns = createTurns({ roundMs: 2, clock });
  const done: string[] = [];
  const ask = (name: string, ms: number) =>
    turns.take(name[0]!, () => {
      spend(ms);
      done.push(name);
    });
  for (const name of ['a1', 'a2', 'a3', 'a4']) void ask(name, 5);
  void ask('b1', 1);
  void ask('b2', 1);
  assert.deepEqual(done, ['a1']);
  // Of two light ones the second ends the round
  const rounds = [['a2'], ['b1', 'a3'], ['b2', 'a4'], []];
  for (const expected of rounds) {
    done.length = 0;
    await round();
    assert.deepEqual(done, expected);
  }
});

test('work that fails when its turn comes rejects, and the next gets its turn', async () => {
  const { clock, spend, round } = manualClock();
  const turns = createTurns({ roundMs: 2, clock });
  turns.take('a', () => spend(3));
  const failing = turns.take('a', () => {
    throw new Error('broken');
  });
  const next = turns.take('b', () => 'fine');
  const failed = assert.rejects(Promise.resolve(failing), /broken/);
  await round();
  assert.equal(await next, 'fine');
  await failed;
});
