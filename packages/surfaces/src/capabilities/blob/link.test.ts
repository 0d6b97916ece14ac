/** Links, and what people try with them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OpenwopError } from '@gantry/protocol';
import fc from 'fast-check';
import { type Link, openLink, signLink } from './link.ts';

const KEY = new Uint8Array(32).fill(1);
const NOW = 1_800_000_000_000;
const LINK: Link = {
  tenant: 'acme',
  bucket: 'artifacts',
  key: 'a b/c',
  method: 'GET',
  expiresAt: NOW + 60_000,
  bytesMax: 0,
};

const codeOf = (url: string, method = 'GET', now = NOW): string => {
  try {
    openLink(KEY, { method, url, now });
    return 'opened';
  } catch (error) {
    assert.ok(error instanceof OpenwopError, String(error));
    return error.code;
  }
};

const good = signLink(KEY, LINK);
const swap = (from: string | RegExp, to: string): string => {
  const bent = good.replace(from, to);
  assert.notEqual(bent, good, `${from} is in the link`);
  return bent;
};
const signature = new URL(good, 'http://h').searchParams.get('signature')!;

/** Everything but the link itself. */
const BENT: Readonly<Record<string, string>> = {
  'another method': swap('method=GET', 'method=PUT'),
  'a method of no kind': swap('method=GET', 'method=DELETE'),
  'a method in lower case': swap('method=GET', 'method=get'),
  'another key': swap('/c?', '/d?'),
  'a shorter key': swap('/c?', '?'),
  'a longer key': swap('/c?', '/c/d?'),
  'a key with a dot segment': swap('/c?', '/./c?'),
  'a key that climbs': swap('/c?', '/../c?'),
  'a key that climbs encoded': swap('/c?', '/%2e%2e/c?'),
  'an encoded slash': swap('/c?', '%2Fc?'),
  'a double slash': swap('/c?', '//c?'),
  'a slash at the end': swap('/c?', '/c/?'),
  'a needless escape': swap('/c?', '/%63?'),
  'a double escape': swap('%20', '%2520'),
  'a plus for a space': swap('%20', '+'),
  'a bare space': swap('%20', ' '),
  'a broken escape': swap('%20', '%2'),
  'bytes that are no UTF-8': swap('%20', '%ff'),
  'a NUL': swap('%20', '%00'),
  'another bucket': swap('artifacts', 'other'),
  'a bucket in upper case': swap('artifacts', 'Artifacts'),
  'another tenant': swap('tenant=acme', 'tenant=other'),
  'a second tenant': `${good}&tenant=other`,
  'a second tenant in front': swap('tenant=acme', 'tenant=other&tenant=acme'),
  'no tenant': swap('tenant=acme&', ''),
  'a later end': swap(/expires=\d+/, `expires=${NOW + 999_999_999}`),
  'the same end with a zero in front': swap(/expires=/, 'expires=0'),
  'the same end as a float': swap(/(expires=\d+)/, '$1.0'),
  'the same end as an exponent': swap(/expires=\d+/, `expires=${(NOW + 60_000) / 1e3}e3`),
  'an end that is none': swap(/expires=\d+/, 'expires=NaN'),
  'no end': swap(/expires=\d+&/, ''),
  'a larger body': swap('maxBytes=0', 'maxBytes=9'),
  'no signature': swap(/&signature=.*/, ''),
  'an empty signature': swap(/signature=.*/, 'signature='),
  'a shorter signature': good.slice(0, -4),
  'a longer signature': `${good}AAAA`,
  'a signature with padding': `${good}=`,
  'another signature': swap(/signature=.*/, `signature=${'A'.repeat(signature.length)}`),
  'one bit of the signature': swap(/signature=./, `signature=${signature.startsWith('A') ? 'B' : 'A'}`),
  'a second signature': `${good}&signature=${signature}`,
  'members in another order': swap(/(tenant=acme)&(method=GET)/, '$2&$1'),
  'one member more': `${good}&x=1`,
  'a fragment': `${good}#x`,
  'a second question mark': `${good}?x`,
  'another root': swap('/v1/host/gantry/blobs/', '/v1/host/gantry/blob/'),
  'a whole address': `http://other.test${good}`,
  'no query': good.split('?')[0]!,
  nothing: '',
  'the root alone': '/v1/host/gantry/blobs/',
  'a very long one': `${good}${'a'.repeat(10_000)}`,
};

describe('a link', () => {
  test('opens for its method, until its time', () => {
    assert.deepEqual(openLink(KEY, { method: 'GET', url: good, now: LINK.expiresAt - 1 }), LINK);
    assert.equal(codeOf(good, 'GET', LINK.expiresAt), 'blob_presign_expired');
    for (const method of ['PUT', 'HEAD', 'POST', 'DELETE', 'get', ''])
      assert.equal(codeOf(good, method), 'forbidden', method);
  });

  test('of another key is none, even when it is over', () => {
    const foreign = signLink(new Uint8Array(32).fill(2), LINK);
    assert.equal(codeOf(foreign), 'forbidden');
    assert.equal(codeOf(foreign, 'GET', LINK.expiresAt), 'forbidden');
  });

  for (const [name, url] of Object.entries(BENT))
    test(`with ${name} is refused`, () => {
      for (const method of ['GET', 'PUT']) assert.equal(codeOf(url, method), 'forbidden');
    });

  test('keeps any key, and is one spelling of it', () => {
    const names = fc.array(
      fc.string({ unit: 'grapheme', minLength: 1 }).filter((n) => !/[/]|^\.{1,2}$/.test(n)),
      {
        minLength: 1,
        maxLength: 4,
      },
    );
    fc.assert(
      fc.property(names, fc.string({ unit: 'grapheme', minLength: 1 }), (parts, tenant) => {
        const link = { ...LINK, key: parts.join('/'), tenant };
        const url = signLink(KEY, link);
        assert.deepEqual(openLink(KEY, { method: 'GET', url, now: NOW }), link);
        const parsed = new URL(url, 'http://h');
        assert.equal(`${parsed.pathname}${parsed.search}`, url, 'no client spells it otherwise');
      }),
    );
  });
});
