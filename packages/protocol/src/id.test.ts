import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { isId, newRunId, RUN_ID_MAX } from './id.ts';

const time = fc.nat({ max: 2 ** 48 - 1 });
const bytes = fc.uint8Array({ minLength: 10, maxLength: 10 });
const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';

/** The value of an id, computed the slow way. */
const decode = (id: string): bigint =>
  [...id.slice('run_'.length)].reduce((sum, digit) => sum * 32n + BigInt(DIGITS.indexOf(digit)), 0n);

test('a run id is 48 bits of time and 80 random bits', () => {
  fc.assert(
    fc.property(time, bytes, (now, random) => {
      const id = newRunId(now, () => random);
      assert.match(id, /^run_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
      const tail = BigInt(`0x${Buffer.from(random).toString('hex')}`);
      assert.equal(decode(id), (BigInt(now) << 80n) | tail);
    }),
  );
});

test('run ids sort by time as text', () => {
  fc.assert(
    fc.property(time, time, bytes, bytes, (a, b, randomA, randomB) => {
      fc.pre(a < b);
      assert.ok(newRunId(a, () => randomA) < newRunId(b, () => randomB));
    }),
  );
});

test('asks for ten bytes and gives a new id each time', () => {
  const ids = Array.from({ length: 1000 }, () =>
    newRunId(1_789_000_000_000, (count) => {
      assert.equal(count, 10);
      return randomBytes(count);
    }),
  );
  assert.equal(new Set(ids).size, ids.length);
  assert.ok(ids.every(isId));
});

test('ids are 1 to 128 characters', () => {
  assert.ok(isId('x') && isId('x'.repeat(RUN_ID_MAX)));
  assert.ok(!isId('') && !isId('x'.repeat(RUN_ID_MAX + 1)));
});
