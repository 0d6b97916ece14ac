import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type MissedTicks, SCHEDULE_LIMITS } from '@gantry/protocol';
import fc from 'fast-check';
import { dueTick, MISSED_AFTER_MS, type Ticking, type Timing, ticksAfter } from './ticks.ts';

const MINUTE = 60_000;
const START = Date.parse('2027-01-01T00:00:00Z');
const everyMinute: Timing = { kind: 'cron', cron: '* * * * *', timezone: 'UTC' };

const ticking = (missedTicks: MissedTicks, more: Partial<Ticking> = {}): Ticking => ({
  timing: everyMinute,
  endAt: null,
  missedTicks,
  nextAt: START,
  caughtUp: 0,
  ...more,
});

test('a tick on time fires, whatever the policy', () => {
  for (const policy of ['skip', 'fire-once', 'catch-up'] as const) {
    const due = dueTick(ticking(policy), START + 20);
    assert.deepEqual(due, { fire: START, nextAt: START + MINUTE, caughtUp: 0 });
  }
});

test('after an outage: one run, none, or one for each', () => {
  const now = START + 10 * MINUTE + MISSED_AFTER_MS + 1;
  const next = START + 11 * MINUTE;
  assert.deepEqual(dueTick(ticking('fire-once'), now), {
    fire: now - MISSED_AFTER_MS - 1,
    nextAt: next,
    caughtUp: 0,
  });
  assert.deepEqual(dueTick(ticking('skip'), now), { fire: null, nextAt: next, caughtUp: 0 });
  assert.deepEqual(dueTick(ticking('catch-up'), now), { fire: START, nextAt: START + MINUTE, caughtUp: 1 });
});

test('skip still fires the tick that has just come', () => {
  const due = dueTick(ticking('skip'), START + 10 * MINUTE + MISSED_AFTER_MS);
  assert.equal(due.fire, START + 10 * MINUTE);
});

test('catching up ends at its bound', () => {
  const now = START + 1_000 * MINUTE + 1;
  let schedule = ticking('catch-up');
  let fired = 0;
  while (schedule.nextAt <= now) {
    const due = dueTick(schedule, now);
    fired++;
    schedule = { ...schedule, nextAt: due.nextAt ?? assert.fail('it goes on'), caughtUp: due.caughtUp };
  }
  assert.equal(fired, SCHEDULE_LIMITS.catchUpMax);
  assert.deepEqual([schedule.nextAt, schedule.caughtUp], [START + 1_001 * MINUTE, 0]);
});

test('nothing fires after the end, and a single time fires once', () => {
  const ending = ticking('fire-once', { endAt: START + 2 * MINUTE });
  assert.deepEqual(dueTick(ending, START + 90 * MINUTE), {
    fire: START + 2 * MINUTE,
    nextAt: null,
    caughtUp: 0,
  });
  const once = ticking('fire-once', { timing: { kind: 'once', at: START } });
  assert.deepEqual(dueTick(once, START + 90 * MINUTE), { fire: START, nextAt: null, caughtUp: 0 });
  assert.deepEqual(dueTick({ ...once, missedTicks: 'skip' }, START + 90 * MINUTE).fire, null);
});

test('the tick that fires after an outage is the last one of those that walking finds', () => {
  const cron = fc.constantFrom('* * * * * *', '*/7 * * * *', '30 2 * * *', '* 30 2 * * *', '0 0 1 * *');
  const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York');
  const start = fc.integer({ min: Date.parse('2026-10-20'), max: Date.parse('2026-11-05') });
  fc.assert(
    fc.property(
      cron,
      zone,
      start,
      fc.integer({ min: 0, max: 400_000 }),
      (expression, timezone, after, lag) => {
        const timing: Timing = { kind: 'cron', cron: expression, timezone };
        const [nextAt] = ticksAfter(timing, null, after, 1);
        assert.ok(nextAt !== undefined);
        const now = nextAt + lag;
        const walked = ticksAfter(timing, now, nextAt - 1, 500);
        assert.equal(dueTick(ticking('fire-once', { timing, nextAt }), now).fire, walked.at(-1));
      },
    ),
    { numRuns: 60 },
  );
});
