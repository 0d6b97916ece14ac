import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRedactions } from './redactions.ts';

const value = (index: number): string => `value-${String(index).padStart(6, '0')}-of-many`;

test('a tenant has its own values only, the operator those of all', () => {
  const redactions = createRedactions();
  assert.equal(redactions.of('acme').isEmpty, true);
  redactions.note('acme', 'acme-secret', 'a');
  assert.equal(redactions.keep('other', 'other-secret', 'b'), true);
  redactions.noteOwn('master-secret', 'master-key');
  const text = 'acme-secret other-secret master-secret';
  assert.equal(redactions.of('acme').redact(text), '[REDACTED:a] other-secret master-secret');
  assert.equal(redactions.of('other').redact(text), 'acme-secret [REDACTED:b] master-secret');
  assert.equal(redactions.of('third').redact(text), text);
  assert.equal(redactions.all.redact(text), '[REDACTED:a] [REDACTED:b] [REDACTED:master-key]');
});

test('a set grows by one value and by many, in text and in streams', () => {
  const redactions = createRedactions();
  for (let index = 0; index < 300; index++) {
    redactions.note('acme', value(index), `${index}`);
    assert.equal(redactions.of('acme').redact(value(index)), `[REDACTED:${index}]`);
  }
  const redactor = redactions.of('acme');
  for (let index = 0; index < 300; index++) {
    const stream = redactor.stream();
    const text = `a ${value(index)} b`;
    const out = text.split('').map((unit) => stream.push(unit));
    assert.equal(out.join('') + stream.end(), `a [REDACTED:${index}] b`);
    assert.equal(redactor.contains({ text }), true);
  }
  assert.equal(redactions.of('acme'), redactor, 'the same while nothing is added');
});

test('values too short to redact are not given to pack code', () => {
  const redactions = createRedactions();
  assert.equal(redactions.keep('acme', ' short ', 's'), false);
  redactions.note('acme', 'short', 's');
  assert.equal(redactions.of('acme').isEmpty, true);
});

test('what pack code was given stays; what was only used makes room for newer values', () => {
  const redactions = createRedactions();
  const long = (name: string): string => `${name}-${'x'.repeat(60_000)}`;
  assert.equal(redactions.keep('acme', long('kept'), 'kept'), true);
  for (const name of ['a', 'b', 'c', 'd', 'a', 'e']) redactions.note('acme', long(name), name);
  const { redact } = { redact: (text: string) => redactions.of('acme').redact(text) };
  assert.equal(redact(long('kept')), '[REDACTED:kept]');
  assert.equal(redact(long('a')), '[REDACTED:a]', 'used again lately');
  assert.equal(redact(long('e')), '[REDACTED:e]');
  assert.equal(redact(long('b')), long('b'), 'used longest ago');
  for (const name of ['1', '2', '3']) assert.equal(redactions.keep('acme', long(name), name), true);
  assert.equal(redactions.keep('acme', long('4'), '4'), false, 'no room: not given out');
  assert.equal(redactions.keep('acme', long('1'), '1'), true, 'known already');
});

test('a value that is forgotten makes room, and the others stay', () => {
  const redactions = createRedactions();
  const large = 'x'.repeat(262_000);
  assert.equal(redactions.keep('acme', large, 'large'), true);
  assert.equal(redactions.keep('acme', value(1), 'one'), true);
  assert.equal(redactions.keep('acme', 'y'.repeat(200), 'more'), false);
  redactions.forget('acme', large);
  assert.equal(redactions.of('acme').redact(`${large.slice(0, 9)} ${value(1)}`), 'xxxxxxxxx [REDACTED:one]');
  assert.equal(redactions.keep('acme', 'y'.repeat(200), 'more'), true);
});
