import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Cron } from 'croner';
import fc from 'fast-check';
import { propertyRuns } from '../../../protocol/src/testing/property-runs.ts';
import { cronIssue, cronTimes, isTimezone } from './cron.ts';
import { ticksAfter } from './ticks.ts';

const times = (cron: string, timezone: string, after: string, count: number): string[] =>
  ticksAfter({ kind: 'cron', cron, timezone }, null, Date.parse(after), count).map((at) =>
    new Date(at).toISOString().slice(0, 16),
  );

test('a local time that summer time leaves out comes as soon as the clock goes on', () => {
  assert.deepEqual(times('30 2 * * *', 'Europe/Berlin', '2026-03-27T12:00Z', 3), [
    '2026-03-28T01:30',
    '2026-03-29T01:00',
    '2026-03-30T00:30',
  ]);
  assert.deepEqual(times('30 2 * * *', 'America/New_York', '2026-03-06T12:00Z', 3), [
    '2026-03-07T07:30',
    '2026-03-08T07:00',
    '2026-03-09T06:30',
  ]);
});

test('a local time that comes twice fires once', () => {
  assert.deepEqual(times('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00Z', 2), [
    '2026-10-25T00:30',
    '2026-10-26T01:30',
  ]);
  assert.deepEqual(times('30 1 * * *', 'America/New_York', '2026-10-31T12:00Z', 2), [
    '2026-11-01T05:30',
    '2026-11-02T06:30',
  ]);
});

test('what fires every half hour goes on through both changes', () => {
  for (const [zone, after] of [
    ['Europe/Berlin', '2026-03-29T00:00Z'],
    ['Europe/Berlin', '2026-10-24T23:00Z'],
    ['America/New_York', '2026-03-08T05:00Z'],
    ['America/New_York', '2026-11-01T04:00Z'],
  ] as const) {
    const found = times('*/30 * * * *', zone, after, 8).map((at) => Date.parse(`${at}Z`));
    assert.deepEqual(
      found,
      found.map((_, i) => Date.parse(after) + (i + 1) * 1_800_000),
      `${zone} ${after}`,
    );
  }
});

test('what is wrong is named', () => {
  const part = (cron: string) => cronIssue(cron)?.part;
  assert.equal(part('61 * * * *'), 'minute');
  assert.equal(part('* 24 * * *'), 'hour');
  assert.equal(part('* * 32 * *'), 'dayOfMonth');
  assert.equal(part('* * * 13 *'), 'month');
  assert.equal(part('* * * * 8'), 'dayOfWeek');
  assert.equal(part('60 * * * * *'), 'second');
  for (const bad of ['', '* * * *', '* * * * * * *', '2026-01-01T00:00:00', '@reboot', '@every 1s']) {
    assert.match(cronIssue(bad)?.problem ?? '', /five fields/, bad);
  }
  for (const good of ['* * * * *', '*/10 * * * * *', '0 9 * * MON-FRI', '0 0 L * *', '@daily']) {
    assert.equal(cronIssue(good), null, good);
  }
});

test('zones are those of the IANA', () => {
  assert.ok(isTimezone('Europe/Berlin'));
  assert.ok(!isTimezone('Mars/Olympus'));
});

const field = (min: number, max: number) =>
  fc.oneof(
    fc.constant('*'),
    fc.integer({ min, max }).map(String),
    fc.integer({ min: 1, max: max - min }).map((step) => `*/${step}`),
    fc
      .tuple(fc.integer({ min, max }), fc.integer({ min, max }))
      .map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
  );
const cron = fc
  .tuple(field(0, 59), field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 6))
  .map((fields) => fields.join(' '));
const zone = fc.constantFrom(
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Asia/Kolkata',
);
const instant = fc.integer({ min: Date.parse('2025-01-01'), max: Date.parse('2030-01-01') });

test('fire times rise strictly and are those that croner lists', () => {
  fc.assert(
    fc.property(cron, zone, instant, (expression, timezone, after) => {
      assert.equal(cronIssue(expression), null);
      const next = cronTimes(expression, timezone);
      const found: number[] = [];
      for (let at = next(after); at !== null && found.length < 20; at = next(at)) found.push(at);
      for (const [i, at] of found.entries()) {
        assert.ok(at > (found[i - 1] ?? after), `${expression} ${timezone} stands still`);
        assert.equal(at % 1_000, 0);
      }
      const listed = new Cron(expression, { timezone, paused: true }).nextRuns(20, new Date(after));
      assert.deepEqual(
        found,
        listed.map((at) => at.getTime()),
      );
    }),
    { numRuns: propertyRuns(200) },
  );
});
