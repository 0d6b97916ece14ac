/**
 * Classifies IP addresses. The first matching rule decides; an address without a rule is reserved.
 *
 *  M    metadata services of clouds, which give credentials to every caller. Some have public addresses.
 *  V4.n IPv4 special-purpose ranges (IANA registry); the rest is public.
 *  E1   IPv4-mapped IPv6 is the IPv4 address.
 *  E2   NAT64 (64:ff9b::/96) is public if the embedded IPv4 is: hosts without IPv4 reach the public
 *       internet only through it. Any other embedded address is not a legal use (RFC 6052, 3.1).
 *  V6.n IPv6 special-purpose ranges. Compatible, 6to4, Teredo and local NAT64 addresses can hide an IPv4
 *       address and have no public use left: refused whatever they embed.
 *  V6.0 outside 2000::/3 nothing is assigned for public use.
 *  X    not an address, or one with a zone id.
 */
import { BlockList, isIPv4, isIPv6 } from 'node:net';

export type AddressKind = 'public' | 'loopback' | 'private' | 'metadata' | 'reserved';

export interface AddressClass {
  readonly kind: AddressKind;
  readonly rule: string;
}

interface Rule extends AddressClass {
  readonly ranges: readonly string[];
}

const METADATA: Rule = {
  rule: 'M',
  kind: 'metadata',
  ranges: [
    '169.254.169.254/32', // AWS, Google, Azure, DigitalOcean, OpenStack
    '169.254.170.2/32', // AWS ECS task credentials
    '169.254.170.23/32', // AWS EKS pod identity
    '169.254.42.42/32', // Scaleway
    '100.100.100.200/32', // Alibaba
    '192.0.0.192/32', // Oracle
    '168.63.129.16/32', // Azure wire server, inside public space
    'fd00:ec2::254/128',
    'fd00:ec2::23/128',
    'fd20:ce::254/128', // Google
    'fd00:42::42/128', // Scaleway
  ],
};

const V4_RULES: readonly Rule[] = [
  { rule: 'V4.1', kind: 'reserved', ranges: ['0.0.0.0/8'] }, // connects to this machine on Linux
  { rule: 'V4.2', kind: 'loopback', ranges: ['127.0.0.0/8'] },
  { rule: 'V4.3', kind: 'private', ranges: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'] },
  { rule: 'V4.4', kind: 'private', ranges: ['100.64.0.0/10'] }, // carrier and cluster networks
  { rule: 'V4.5', kind: 'reserved', ranges: ['169.254.0.0/16'] },
  { rule: 'V4.6', kind: 'reserved', ranges: ['192.0.0.0/24', '192.88.99.0/24'] },
  { rule: 'V4.7', kind: 'reserved', ranges: ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24'] },
  { rule: 'V4.8', kind: 'reserved', ranges: ['198.18.0.0/15'] },
  { rule: 'V4.9', kind: 'reserved', ranges: ['224.0.0.0/4', '240.0.0.0/4'] }, // with broadcast
];

const V6_RULES: readonly Rule[] = [
  { rule: 'V6.1', kind: 'reserved', ranges: ['::/128'] },
  { rule: 'V6.2', kind: 'loopback', ranges: ['::1/128'] },
  { rule: 'V6.3', kind: 'reserved', ranges: ['::/96', '64:ff9b:1::/48', '2002::/16'] },
  { rule: 'V6.4', kind: 'reserved', ranges: ['2001::/23'] }, // Teredo, ORCHID, benchmarking
  { rule: 'V6.5', kind: 'private', ranges: ['fc00::/7'] },
  { rule: 'V6.6', kind: 'reserved', ranges: ['fe80::/10', 'fec0::/10'] },
  { rule: 'V6.7', kind: 'reserved', ranges: ['ff00::/8'] },
  { rule: 'V6.8', kind: 'reserved', ranges: ['2001:db8::/32', '3fff::/20'] },
  { rule: 'V6.9', kind: 'reserved', ranges: ['100::/64', '5f00::/16'] },
];

type Matcher = AddressClass & { readonly list: BlockList };

function matcher({ rule, kind, ranges }: Rule): Matcher {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', prefix] = range.split('/');
    list.addSubnet(network, Number(prefix), isIPv4(network) ? 'ipv4' : 'ipv6');
  }
  return { rule, kind, list };
}

const IPV4 = [METADATA, ...V4_RULES].map(matcher);
const IPV6 = [METADATA, ...V6_RULES].map(matcher);
const MAPPED = matcher({ rule: 'E1', kind: 'reserved', ranges: ['::ffff:0:0/96'] });
const NAT64 = matcher({ rule: 'E2', kind: 'reserved', ranges: ['64:ff9b::/96'] });
const GLOBAL_UNICAST = matcher({ rule: 'V6', kind: 'public', ranges: ['2000::/3'] });
const NOT_AN_ADDRESS: AddressClass = { rule: 'X', kind: 'reserved' };

/** The canonical spelling of an address, for comparison. */
export function canonicalAddress(address: string): string | undefined {
  if (isIPv4(address)) return address;
  if (!isIPv6(address) || address.includes('%')) return undefined;
  return URL.parse(`http://[${address}]`)?.hostname.slice(1, -1);
}

/** The last 32 bits of a canonical IPv6 address as IPv4. */
function embeddedIpv4(address: string): string {
  const [high = '', low = ''] = address.split(':').slice(-2);
  const bits = [high, low].map((group) => Number.parseInt(group || '0', 16));
  return bits.flatMap((pair) => [pair >> 8, pair & 0xff]).join('.');
}

function firstMatch(
  matchers: readonly Matcher[],
  address: string,
  family: 'ipv4' | 'ipv6',
): AddressClass | undefined {
  const found = matchers.find(({ list }) => list.check(address, family));
  return found && { rule: found.rule, kind: found.kind };
}

const classifyIpv4 = (address: string): AddressClass =>
  firstMatch(IPV4, address, 'ipv4') ?? { rule: 'V4', kind: 'public' };

function classifyIpv6(address: string): AddressClass {
  if (MAPPED.list.check(address, 'ipv6')) return classifyIpv4(embeddedIpv4(address));
  if (NAT64.list.check(address, 'ipv6')) {
    const { kind } = classifyIpv4(embeddedIpv4(address));
    return { rule: 'E2', kind: kind === 'public' ? 'public' : 'reserved' };
  }
  const found = firstMatch(IPV6, address, 'ipv6') ?? firstMatch([GLOBAL_UNICAST], address, 'ipv6');
  return found ?? { rule: 'V6.0', kind: 'reserved' };
}

function classify(address: string): AddressClass {
  const canonical = canonicalAddress(address);
  if (canonical === undefined) return NOT_AN_ADDRESS;
  return isIPv4(canonical) ? classifyIpv4(canonical) : classifyIpv6(canonical);
}

/** Each rule costs a microsecond or two, and the same addresses recur often. */
const KNOWN_MAX = 1_000;
const known = new Map<string, AddressClass>();

export function classifyAddress(address: string): AddressClass {
  const found = known.get(address) ?? classify(address);
  if (known.size >= KNOWN_MAX) known.clear();
  known.set(address, found);
  return found;
}
