import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { createTracer, parseTraceparent } from './trace.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const VALID = `00-${TRACE}-${SPAN}-01`;

test('a valid parent is continued with a span of its own', () => {
  const next = createTracer(randomBytes);
  const first = parseTraceparent(next(VALID));
  const second = parseTraceparent(next(VALID));
  assert.equal(first?.traceId, TRACE);
  assert.equal(first?.flags, '01');
  assert.notEqual(first?.spanId, SPAN);
  assert.notEqual(first?.spanId, second?.spanId);
});

test('later versions are read, extra fields and all', () => {
  assert.equal(parseTraceparent(`01-${TRACE}-${SPAN}-00-more`)?.traceId, TRACE);
});

for (const bad of [
  undefined,
  '',
  'nonsense',
  VALID.toUpperCase(),
  `ff-${TRACE}-${SPAN}-01`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `${VALID}-more`,
]) {
  test(`${JSON.stringify(bad)} starts a new trace`, () => {
    assert.equal(parseTraceparent(bad), null);
    const made = parseTraceparent(createTracer(randomBytes)(bad));
    assert.notEqual(made, null);
    assert.notEqual(made?.traceId, TRACE);
  });
}

test('ids do not repeat when the drawn bytes run out', () => {
  const next = createTracer(randomBytes);
  const made = new Set(Array.from({ length: 500 }, () => next(undefined)));
  assert.equal(made.size, 500);
});
