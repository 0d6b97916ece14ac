import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { chooseDue, chooseFresh } from './choose.ts';
import { LEASE_BYTES_MAX } from './queue-store.ts';

const NOW = 1_000;

const rows = fc
  .array(
    fc.record({
      count: fc.integer({ min: 0, max: 6 }),
      bytes: fc.integer({ min: 1, max: LEASE_BYTES_MAX }),
      available_at: fc.integer({ min: 0, max: 2 * NOW }),
    }),
    { maxLength: 20 },
  )
  .map((each) => each.map((row, index) => ({ seq: index + 1, ...row })));

const bytesOf = (all: readonly { bytes: number }[]): number => all.reduce((sum, { bytes }) => sum + bytes, 0);

test('fresh messages: none is skipped, none comes before its time, and the bytes stay in bounds', () => {
  const room = fc.record({
    messages: fc.integer({ min: 1, max: 20 }),
    bytes: fc.integer({ min: 1, max: LEASE_BYTES_MAX }),
  });
  fc.assert(
    fc.property(rows, room, fc.option(fc.integer({ min: 21, max: 30 })), (found, free, end) => {
      const { delayed, leased, next } = chooseFresh(found, { now: NOW, from: 1, room: free, end });
      const passed = found.filter(({ seq }) => seq < next).map(({ seq }) => seq);
      const chosen = [...delayed, ...leased].map(({ seq }) => seq).toSorted((a, b) => a - b);
      assert.deepEqual(chosen, passed, 'what the group has passed is leased, or waits for its time');
      assert.ok(leased.every(({ available_at, count }) => available_at <= NOW && count === 1));
      assert.ok(delayed.every(({ available_at }) => available_at > NOW));
      assert.ok(leased.length <= free.messages);
      assert.ok(leased.length <= 1 || bytesOf(leased) <= free.bytes);
      if (end !== null && passed.length === found.length) assert.equal(next, end, 'all has been looked at');
      if (found.some(({ available_at }) => available_at <= NOW)) assert.ok(leased.length > 0, 'it goes on');
    }),
  );
});

test('due messages: each is leased, spent or left, and dead letters are never spent', () => {
  fc.assert(
    fc.property(rows, fc.boolean(), (found, isDead) => {
      const about = { topic: isDead ? 't.dlq' : 't', messagesMax: 20, deliveriesMax: 3 };
      const { spent, leased, room } = chooseDue(found, about);
      assert.deepEqual(
        spent.map(({ seq }) => seq),
        isDead ? [] : found.filter(({ count }) => count >= 3).map(({ seq }) => seq),
      );
      for (const row of leased) assert.equal(row.count, found[row.seq - 1]!.count + 1);
      assert.ok(leased.length <= 1 || bytesOf(leased) <= LEASE_BYTES_MAX);
      if (leased.length < found.length - spent.length)
        assert.equal(room.messages, 0, 'those left come first');
    }),
  );
});
