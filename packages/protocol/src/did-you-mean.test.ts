import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { didYouMean, distance } from './did-you-mean.ts';

test('a slip of the hand is recognised, whatever all known words begin with', () => {
  assert.equal(didYouMean('rnus', ['run', 'runs']), ' Did you mean runs?');
  assert.equal(didYouMean('PROT', ['PORT', 'HOST'], 'GANTRY_'), ' Did you mean GANTRY_PORT?');
  assert.equal(didYouMean('work', ['workflows', 'keys']), ' Did you mean workflows?');
  assert.equal(didYouMean('zzz', ['run', 'runs']), '');
});

test('what is far beyond a name from a hand is compared with nothing', () => {
  const known = ['x'.repeat(1_000_000), 'amount'];
  assert.equal(didYouMean('x'.repeat(999_999), known), '');
  assert.equal(didYouMean('amuont', known), ' Did you mean amount?');
});

test('the distance is the same both ways, and none only between equals', () => {
  const word = fc.string({ maxLength: 8, unit: fc.constantFrom('a', 'b', 'c') });
  fc.assert(
    fc.property(word, word, (from, to) => {
      const far = distance(from, to);
      assert.equal(far, distance(to, from));
      assert.equal(far === 0, from === to);
      assert.ok(far <= Math.max(from.length, to.length));
    }),
  );
});
