import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseEncoding, matchesEtag } from './reply.ts';

test('the encoding is the best that the reader accepts', () => {
  assert.equal(chooseEncoding(undefined), null);
  assert.equal(chooseEncoding('identity'), null);
  assert.equal(chooseEncoding('gzip, br'), 'gzip');
  assert.equal(chooseEncoding('br, deflate'), 'br');
  assert.equal(chooseEncoding('gzip;q=0.5, br;q=0.9'), 'br');
  assert.equal(chooseEncoding('gzip;q=0, br'), 'br');
  assert.equal(chooseEncoding('*;q=0.1'), 'gzip');
  assert.equal(chooseEncoding('gzip;q=0, *;q=0'), null);
  assert.equal(chooseEncoding('gzip;q=nonsense'), null);
});

test('validators compare weakly, in lists, and by the star', () => {
  assert.equal(matchesEtag('"a"', '"a"'), true);
  assert.equal(matchesEtag('"b", W/"a"', '"a"'), true);
  assert.equal(matchesEtag('*', '"a"'), true);
  assert.equal(matchesEtag('"ab"', '"a"'), false);
  assert.equal(matchesEtag('a', '"a"'), false);
  assert.equal(matchesEtag(undefined, '"a"'), false);
});
