import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { readAllowList } from './allow-entry.ts';
import { type EgressPolicy, PUBLIC_POLICY } from './policy.ts';
import { judgeUrl } from './target.ts';
import { ALLOWED, REFUSED } from './testing/corpus.ts';
import { LOOPBACK_POLICY } from './testing/egress.ts';

const problemOf = (url: string, policy = PUBLIC_POLICY) => {
  const judgement = judgeUrl(url, policy);
  return judgement.allowed ? undefined : judgement.problem;
};
const reasonFor = (url: string, policy = PUBLIC_POLICY) => problemOf(url, policy)?.reason;

describe('the corpus', () => {
  test('holds what it promises', () => {
    const urls = [...Object.values(REFUSED).flat(), ...ALLOWED];
    assert.ok(urls.length >= 250);
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
  const open = (list: string): EgressPolicy => ({ purpose: 'webhook', allow: readAllowList(list) });
  const reasonOf = (url: string, policy: EgressPolicy, tenant?: string) => {
    const judgement = judgeUrl(url, policy, tenant);
    return judgement.allowed ? undefined : judgement.problem.reason;
  };

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
  });

  test('a range opens the private addresses in it, never loopback, link-local or metadata', () => {
    const everything = open('webhook=https://0.0.0.0/0,webhook=https://[::/0]');
    const PRIVATE = open(
      'webhook=https://10.0.0.0/8,webhook=https://100.64.0.0/10,webhook=https://[fc00::/7]',
    );
    for (const url of ['https://10.0.0.1/', 'https://[fd12::1]/', 'https://db.internal/', 'https://redis/'])
      assert.equal(reasonFor(url, PRIVATE), undefined, url);
    assert.equal(reasonFor('https://127.0.0.1/', PRIVATE), 'address_not_allowed');
    for (const url of [
      'https://169.254.1.1/',
      'https://[fe80::1]/',
      'https://0.0.0.0/',
      'https://[64:ff9b::a00:1]/',
    ])
      assert.equal(reasonFor(url, everything), 'address_not_allowed', url);
    for (const url of ['https://100.100.100.200/', 'https://[fd00:ec2::254]/', 'https://168.63.129.16/'])
      for (const policy of [PRIVATE, everything])
        assert.equal(reasonFor(url, policy), 'address_not_allowed', url);
    assert.equal(reasonFor('https://metadata.google.internal/', everything), 'host_not_allowed');
  });

  test('an entry opens one scheme, host and port, in every spelling of the same address', () => {
    const policy = open(
      'webhook=http://127.0.0.1:9000,webhook=https://hooks.corp.internal,webhook=https://10.1.2.3:22',
    );
    for (const url of [
      'http://127.0.0.1:9000/hook',
      'http://2130706433:9000/',
      'http://[::ffff:7f00:1]:9000/',
      'https://hooks.corp.internal/',
      'https://HOOKS.corp.internal.:443/',
      'https://10.1.2.3:22/',
    ])
      assert.equal(reasonOf(url, policy), undefined, url);
    const closed = {
      'https://127.0.0.1:9000/': 'address_not_allowed',
      'http://127.0.0.1:9001/': 'port_not_allowed',
      'http://127.0.0.2:9000/': 'address_not_allowed',
      'http://hooks.corp.internal/': 'port_not_allowed',
      'http://hooks.corp.internal:9000/': 'host_not_allowed',
      'https://hooks.corp.internal:8443/': 'host_not_allowed',
      'https://other.corp.internal/': 'host_not_allowed',
      'https://10.1.2.3/': 'address_not_allowed',
      'https://example.com:22/': 'host_not_allowed',
    };
    for (const [url, reason] of Object.entries(closed)) assert.equal(reasonOf(url, policy), reason, url);
    assert.equal(
      reasonOf('https://example.com:22/', open('webhook=https://a.example:22')),
      'host_not_allowed',
    );
  });

  test('an address opens no name that resolves to it; a range does', () => {
    const name = 'https://evil.example/';
    for (const address of ['169.254.169.254', '10.1.2.3', '10.1.2.3/32', '[fe80::1]']) {
      const plain = address.replace(/[[\]]|\/32/g, '');
      const judgement = judgeUrl(name, open(`webhook=https://${address}`));
      assert.equal(judgement.allowed && judgement.target.problemOf(plain)?.reason, 'address_not_allowed');
      assert.equal(reasonOf('http://evil.example/', open(`webhook=http://${address}`)), 'host_not_allowed');
    }
    const judgement = judgeUrl(name, open('webhook=https://10.1.0.0/16'));
    assert.equal(judgement.allowed && judgement.target.problemOf('10.1.2.3'), undefined);
  });

  test('link-local and metadata addresses are opened by their exact address', () => {
    const policy = open('webhook=http://169.254.169.254,webhook=http://[fe80::1]');
    assert.equal(reasonOf('http://169.254.169.254/latest/', policy), undefined);
    assert.equal(reasonOf('http://[fe80::1]/', policy), undefined);
    assert.equal(reasonOf('http://169.254.169.253/', policy), 'address_not_allowed');
    assert.equal(reasonOf('http://metadata.google.internal/', policy), 'host_not_allowed');
  });

  test('an entry holds for its tenant; without one for the tenant default', () => {
    const policy = open('webhook=http://127.0.0.1:9000,webhook@acme=http://127.0.0.1:9001');
    const at = (port: number, tenant?: string) => reasonOf(`http://127.0.0.1:${port}/`, policy, tenant);
    assert.deepEqual([at(9000), at(9000, 'default'), at(9001, 'acme')], [undefined, undefined, undefined]);
    assert.deepEqual([at(9000, 'acme'), at(9001)], ['port_not_allowed', 'port_not_allowed']);
    assert.equal(at(9000, 'other'), 'scheme_not_allowed');
  });

  test('a refusal names the entry that would allow the call, and with that entry it is allowed', () => {
    const urls = [
      'http://127.0.0.1:9000/hook',
      'https://10.0.0.1/',
      'https://169.254.169.254/latest/meta-data/',
      'https://[::1]:8443/',
      'https://printer.local./',
      'https://example.com:22/',
      'http://example.com/',
    ];
    for (const tenant of ['default', 'acme'])
      for (const url of urls) {
        const judgement = judgeUrl(url, open(''), tenant);
        assert.ok(!judgement.allowed, url);
        const entry = / allow it with (\S+) in GANTRY_EGRESS_ALLOW\.$/.exec(judgement.problem.message)?.[1];
        assert.ok(entry, judgement.problem.message);
        assert.equal(reasonOf(url, open(entry), tenant), undefined, entry);
        assert.notEqual(reasonOf(url, open(entry), 'other'), undefined, entry);
      }
    for (const url of ['https://metadata.google.internal/', 'ftp://127.0.0.1/', 'https://a@10.0.0.1/']) {
      const judgement = judgeUrl(url, open(''));
      assert.ok(!judgement.allowed && !judgement.problem.message.includes('GANTRY'), url);
    }
    assert.doesNotMatch(
      problemOf('https://10.0.0.1/')?.message ?? 'GANTRY',
      /GANTRY/,
      'nothing opens this policy',
    );
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
