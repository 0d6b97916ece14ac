import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { LOOPBACK_POLICY, PUBLIC_POLICY } from './policy.ts';
import { judgeUrl } from './target.ts';
import { ALLOWED, REFUSED } from './testing/corpus.ts';

const problemOf = (url: string, policy = PUBLIC_POLICY) => {
  const judgement = judgeUrl(url, policy);
  return judgement.allowed ? undefined : judgement.problem;
};
const reasonFor = (url: string, policy = PUBLIC_POLICY) => problemOf(url, policy)?.reason;

describe('the corpus', () => {
  test('holds what it promises', () => {
    const urls = [...Object.values(REFUSED).flat(), ...ALLOWED];
    assert.ok(urls.length >= 200);
    assert.equal(new Set(urls).size, urls.length);
  });

  for (const [reason, urls] of Object.entries(REFUSED)) {
    test(`${reason}: each of ${urls.length} is refused`, () => {
      const answers = urls.map((url) => [url, reasonFor(url)]);
      assert.deepEqual(
        answers,
        urls.map((url) => [url, reason]),
      );
    });
  }

  test('what is public passes', () => {
    assert.deepEqual(
      ALLOWED.filter((url) => reasonFor(url) !== undefined),
      [],
    );
  });
});

describe('policies', () => {
  const PRIVATE = { schemes: ['https'], allowLoopback: false, allowPrivate: true } as const;

  test('loopback opens plain HTTP to this machine and nothing else inside', () => {
    for (const url of [
      'http://127.0.0.1:9000/',
      'http://[::1]/',
      'http://localhost/',
      'http://app.localhost/',
    ])
      assert.equal(reasonFor(url, LOOPBACK_POLICY), undefined, url);
    for (const url of ['http://10.0.0.1/', 'http://0.0.0.0/', 'http://169.254.169.254/', 'http://[::]/'])
      assert.equal(reasonFor(url, LOOPBACK_POLICY), 'address_not_allowed', url);
    assert.equal(reasonFor('http://db.internal/', LOOPBACK_POLICY), 'host_not_allowed');
  });

  test('private opens private networks, never loopback, link-local or metadata', () => {
    for (const url of ['https://10.0.0.1/', 'https://[fd12::1]/', 'https://db.internal/', 'https://redis/'])
      assert.equal(reasonFor(url, PRIVATE), undefined, url);
    for (const url of ['https://127.0.0.1/', 'https://169.254.1.1/', 'https://[fe80::1]/'])
      assert.equal(reasonFor(url, PRIVATE), 'address_not_allowed', url);
    for (const url of ['https://100.100.100.200/', 'https://[fd00:ec2::254]/', 'https://168.63.129.16/'])
      assert.equal(reasonFor(url, PRIVATE), 'address_not_allowed', url);
    assert.equal(reasonFor('https://metadata.google.internal/', PRIVATE), 'host_not_allowed');
  });

  test('listed ports replace the default', () => {
    const policy = { ...PUBLIC_POLICY, ports: [443] };
    assert.equal(reasonFor('https://example.com/', policy), undefined);
    assert.equal(reasonFor('https://example.com:8443/', policy), 'port_not_allowed');
  });
});

test('a message names the host at most', () => {
  for (const url of Object.values(REFUSED).flat()) {
    const marked = `${url}SECRETPATH?key=SECRETQUERY`.replace('secret@', 'SECRETWORD@');
    assert.doesNotMatch(problemOf(marked)?.message ?? '', /SECRET(PATH|QUERY|WORD)/);
  }
});

/** One part of an IPv4 address in any base the URL parser reads. */
const spelled = (value: number): fc.Arbitrary<string> =>
  fc.constantFrom(
    String(value),
    `0${value.toString(8)}`,
    `000${value.toString(8)}`,
    `0x${value.toString(16)}`,
    `0X${value.toString(16).toUpperCase()}`,
    `0x00${value.toString(16)}`,
  );

const privateOctets = fc
  .tuple(
    fc.constantFrom([10], [127], [0], [169, 254], [192, 168], [172, 16], [172, 31], [100, 64], [224], [255]),
    fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255)),
  )
  .map(([network, rest]) => [...network, ...rest].slice(0, 4));

/** The last part of a short spelling holds all the octets that are left. */
const spellings = fc.tuple(privateOctets, fc.integer({ min: 1, max: 4 })).chain(([octets, parts]) => {
  const tail = octets.slice(parts - 1).reduce((sum, octet) => sum * 256 + octet, 0);
  return fc.tuple(...[...octets.slice(0, parts - 1), tail].map(spelled)).map((written) => written.join('.'));
});

test('no spelling of a private IPv4 address passes', () => {
  const dots = fc.constantFrom('.', '。', '．', '｡', '%2E');
  fc.assert(
    fc.property(spellings, dots, fc.constantFrom('', '.'), (address, dot, end) => {
      const url = `https://${address.replaceAll('.', dot)}${end}/`;
      assert.equal(reasonFor(url), 'address_not_allowed', url);
    }),
    { numRuns: 500 },
  );
});

test('nor does one inside an IPv6 address', () => {
  const hex = (octets: readonly number[]) =>
    [0, 2].map((at) => ((octets[at]! << 8) | octets[at + 1]!).toString(16)).join(':');
  const shapes = fc.constantFrom(
    (octets: readonly number[]) => `::ffff:${octets.join('.')}`,
    (octets: readonly number[]) => `::ffff:${hex(octets)}`,
    (octets: readonly number[]) => `0:0:0:0:0:FFFF:${hex(octets)}`,
    (octets: readonly number[]) => `64:ff9b::${octets.join('.')}`,
    (octets: readonly number[]) => `64:ff9b:0:0:0:0:${hex(octets)}`,
    (octets: readonly number[]) => `2002:${hex(octets)}::1`,
    (octets: readonly number[]) => `::${octets.join('.')}`,
  );
  fc.assert(
    fc.property(privateOctets, shapes, (octets, shape) => {
      const url = `https://[${shape(octets)}]/`;
      assert.equal(reasonFor(url), 'address_not_allowed', url);
    }),
    { numRuns: 500 },
  );
});
