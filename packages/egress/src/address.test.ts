import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { canonicalAddress, classifyAddress } from './address.ts';

/** First and last address of each range, and the neighbours just outside where those are public. */
const EDGES: Readonly<Record<string, readonly string[]>> = {
  'reserved V4.1': ['0.0.0.0', '0.255.255.255'],
  'loopback V4.2': ['127.0.0.0', '127.255.255.255', '::ffff:127.0.0.1'],
  'private V4.3': [
    '10.0.0.0',
    '10.255.255.255',
    '172.16.0.0',
    '172.31.255.255',
    '192.168.0.0',
    '192.168.255.255',
  ],
  'private V4.4': ['100.64.0.0', '100.127.255.255'],
  'reserved V4.5': ['169.254.0.0', '169.254.255.255'],
  'reserved V4.6': ['192.0.0.0', '192.0.0.255', '192.88.99.0', '192.88.99.255'],
  'reserved V4.7': [
    '192.0.2.0',
    '192.0.2.255',
    '198.51.100.0',
    '198.51.100.255',
    '203.0.113.0',
    '203.0.113.255',
  ],
  'reserved V4.8': ['198.18.0.0', '198.19.255.255'],
  'reserved V4.9': ['224.0.0.0', '239.255.255.255', '240.0.0.0', '255.255.255.255'],
  'reserved V6.1': ['::'],
  'loopback V6.2': ['::1', '0:0:0:0:0:0:0:1'],
  'reserved V6.3': ['::2', '::ffff:ffff', '64:ff9b:1::', '64:ff9b:1:ffff::1', '2002::', '2002:808:808::1'],
  'reserved V6.4': ['2001::', '2001:1ff:ffff::', '2001:10::1'],
  'private V6.5': ['fc00::', 'fdff:ffff::1'],
  'reserved V6.6': ['fe80::', 'febf::1', 'fec0::', 'feff::1'],
  'reserved V6.7': ['ff00::', 'ffff::1'],
  'reserved V6.8': ['2001:db8::', '2001:db8:ffff::', '3fff::', '3fff:fff:ffff::'],
  'reserved V6.9': ['100::', '100::ffff', '5f00::', '5f00:ffff::'],
  'reserved V6.0': ['1::', '100:0:0:1::', '4000::', '64:ff9c::', '::ffff:0:8.8.8.8', 'fbff::'],
  'reserved E2': ['64:ff9b::', '64:ff9b::7f00:1', '64:ff9b::a00:0', '64:ff9b::a83f:8110'],
  'metadata M': ['169.254.169.254', '100.100.100.200', '168.63.129.16', 'fd00:ec2::254', '::ffff:a9fe:a9fe'],
  'reserved X': ['', 'localhost', '127.1', '0177.0.0.1', '1.2.3', 'fe80::1%eth0', '2606:4700::1%1', '[::1]'],
  'public V4': [
    '1.0.0.0',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
    '192.169.0.0',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '::ffff:8.8.8.8',
  ],
  'public E2': ['64:ff9b::8.8.8.8', '64:ff9b::101:101'],
  'public V6': ['2001:200::', '2003::', '2606:4700:4700::1111', '3ffe:ffff::', '3fff:1000::'],
};

for (const [expected, addresses] of Object.entries(EDGES)) {
  test(`${expected} at its edges`, () => {
    for (const address of addresses) {
      const { kind, rule } = classifyAddress(address);
      assert.equal(`${kind} ${rule}`, expected, address);
    }
  });
}

test('a mapped address is what its IPv4 address is', () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      assert.deepEqual(classifyAddress(`::ffff:${address}`), classifyAddress(address));
    }),
  );
});

test('the spelling of an IPv6 address does not matter', () => {
  fc.assert(
    fc.property(fc.ipV6(), (address) => {
      const canonical = canonicalAddress(address);
      assert.ok(canonical !== undefined);
      assert.equal(canonicalAddress(canonical), canonical);
      assert.equal(canonicalAddress(address.toUpperCase()), canonical);
      assert.deepEqual(classifyAddress(address), classifyAddress(canonical));
    }),
  );
});
