import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Cron } from 'croner';
import fc from 'fast-check';
import { propertyRuns } from '../../../protocol/src/testing/property-runs.ts';
import { cronIssue, isTimezone } from './cron.ts';
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
  assert.deepEqual(times('*/20 2 * * *', 'Europe/Berlin', '2026-10-24T12:00Z', 4), [
    '2026-10-25T00:00',
    '2026-10-25T00:20',
    '2026-10-25T00:40',
    '2026-10-26T01:00',
  ]);
  assert.deepEqual(times('0 */2 * * *', 'Europe/Berlin', '2026-10-24T23:00Z', 2), [
    '2026-10-25T00:00',
    '2026-10-25T03:00',
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

test('fire times rise strictly, and are those that croner lists but for repeated local times', () => {
  fc.assert(
    fc.property(cron, zone, instant, (expression, timezone, after) => {
      assert.equal(cronIssue(expression), null);
      const found = ticksAfter({ kind: 'cron', cron: expression, timezone }, null, after, 20);
      for (const [i, at] of found.entries()) {
        assert.ok(at > (found[i - 1] ?? after), `${expression} ${timezone} stands still`);
        assert.equal(at % 1_000, 0);
      }
      const listed = new Cron(expression, { timezone, paused: true }).nextRuns(20, new Date(after));
      const expected = listed.map((at) => at.getTime()).filter((at) => !isRepeat(at, timezone));
      assert.deepEqual(found.filter((at) => !isRepeat(at, timezone)).slice(0, expected.length), expected);
    }),
    { numRuns: propertyRuns(200) },
  );
});

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const local = (at: number, timezone: string) =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timezone).toPlainDateTime();
const isRepeat = (at: number, timezone: string): boolean =>
  local(at, timezone).toZonedDateTime(timezone).epochMilliseconds !== at;

test('on days when the clock is set back each local time fires once, in every zone', () => {
  const some = (max: number) => fc.uniqueArray(fc.integer({ min: 0, max }), { minLength: 1, maxLength: 4 });
  const hours = fc.constantFrom('0-2', '1', '1,2', '2', '*/2', '0-22', '3', '0,23');
  const minutes = fc.oneof(
    fc.constantFrom('*/20', '*/7', '*', '0-30/10'),
    some(59).map((list) => list.join(',')),
  );
  const zones = fc.constantFrom(
    'Europe/Berlin',
    'Europe/Lisbon',
    'America/New_York',
    'America/Santiago',
    'America/Havana',
    'Australia/Lord_Howe',
    'Antarctica/Troll',
    'Asia/Beirut',
  );
  fc.assert(
    fc.property(minutes, hours, zones, fc.integer({ min: 0, max: DAY_MS }), (minute, hour, timezone, lag) => {
      const setBack = lastSetBack(timezone);
      const from = setBack - DAY_MS + lag;
      const end = setBack + DAY_MS;
      const timing = { kind: 'cron', cron: `${minute} ${hour} * * *`, timezone } as const;
      const found = ticksAfter(timing, end, from, 5_000);
      const [minutesWanted, hoursWanted] = [numbers(minute, 60), numbers(hour, 24)];
      const expected: number[] = [];
      for (let at = Math.floor(from / MINUTE_MS + 1) * MINUTE_MS; at <= end; at += MINUTE_MS) {
        const time = local(at, timezone);
        if (!minutesWanted.has(time.minute) || !hoursWanted.has(time.hour)) continue;
        if (!isRepeat(at, timezone)) expected.push(at);
      }
      assert.deepEqual(found, expected, `${timing.cron} ${timezone}`);
    }),
    { numRuns: propertyRuns(100) },
  );
});

/** The last time before 2027 that the clock of a zone was set back. */
function lastSetBack(timezone: string): number {
  let at = Temporal.ZonedDateTime.from(`2027-01-01T00:00[${timezone}]`);
  for (;;) {
    at = at.getTimeZoneTransition('previous')!;
    if (at.offsetNanoseconds < at.subtract({ nanoseconds: 1 }).offsetNanoseconds) return at.epochMilliseconds;
  }
}

/** The numbers of a simple field, such as `1,2`, `0-30/10` or `*`. */
function numbers(field: string, count: number): Set<number> {
  const numbersOf = (part: string): number[] => {
    const [range = '*', step = '1'] = part.split('/');
    const [first = 0, last = range === '*' ? count - 1 : first] =
      range === '*' ? [] : range.split('-').map(Number);
    const all = Array.from({ length: last - first + 1 }, (_, i) => first + i);
    return all.filter((number) => (number - first) % Number(step) === 0);
  };
  return new Set(field.split(',').flatMap(numbersOf));
}
