import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decimalOf } from './decimals.ts';

test('a decimal is a number where a number prints the same digits', () => {
  const cases = [
    ['1.5000000000000000', 1.5],
    ['2.50', 2.5],
    ['-0.10', -0.1],
    ['100.00', 100],
    ['0.00', 0],
    ['-0.00', 0],
    ['0.000000150', 1.5e-7],
    ['1.3333333333333333', 1.3333333333333333],
    ['9007199254740991.0', 9007199254740991],
  ] as const;
  for (const [text, number] of cases) assert.equal(decimalOf(text), number, text);
});

test('it is text where digits would be lost, and what is no decimal stays as it is', () => {
  const cases = [
    ['12345678901234567.250', '12345678901234567.25'],
    ['0.33333333333333333333', '0.33333333333333333333'],
    ['0.10000000000000001', '0.10000000000000001'],
    ['9007199254740992', '9007199254740992'],
    ['9007199254740993.00', '9007199254740993'],
    ['NaN', 'NaN'],
    ['Infinity', 'Infinity'],
    ['', ''],
  ] as const;
  for (const [text, kept] of cases) assert.equal(decimalOf(text), kept, text);
});

test('no digit is ever lost, and fifteen always fit', () => {
  const places = fc.nat({ max: 30 });
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }), places, (digits, many) => {
      const read = decimalOf(written(digits, many));
      assert.equal(exact(String(read)), exact(written(digits, many)));
      if (digits > -(10n ** 15n) && digits < 10n ** 15n) assert.equal(typeof read, 'number');
    }),
  );
});

test('zeros without end take no time', () => {
  const text = `0.${'0'.repeat(16_000)}1`;
  assert.equal(decimalOf(text), text);
});

/** As servers write it, with `places` after the point. */
function written(digits: bigint, places: number): string {
  const text = String(digits < 0n ? -digits : digits).padStart(places + 1, '0');
  const sign = digits < 0n ? '-' : '';
  return places === 0 ? `${sign}${text}` : `${sign}${text.slice(0, -places)}.${text.slice(-places)}`;
}

const PLACES_MAX = 60n;

/** The value times 10^60: equal for equal values, however they are written. */
function exact(text: string): bigint {
  const [, digits = '', fraction = '', exponent = '0'] =
    /^(-?\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(text) ?? [];
  const power = PLACES_MAX - BigInt(fraction.length) + BigInt(exponent);
  assert.ok(power >= 0n, text);
  return BigInt(`${digits}${fraction}`) * 10n ** power;
}
