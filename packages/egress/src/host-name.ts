/**
 * Names that never refer to the public internet. Most would also fail the address check after resolution. Refusing
 * them by name avoids the lookup, and lets registration fail at once.
 */
export type HostNameKind = 'public' | 'loopback' | 'private' | 'metadata';

const METADATA_NAMES: ReadonlySet<string> = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'metadata.azure.internal',
  'metadata.azure.com',
  'metadata.platformequinix.com',
  'metadata.packet.net',
  'metadata.tencentyun.com',
  'instance-data',
  'instance-data.ec2.internal',
]);

/** Reserved by RFC 6762, RFC 8375, ICANN (.internal), or in common private use. */
const PRIVATE_SUFFIXES: readonly string[] = [
  'local',
  'internal',
  'home.arpa',
  'localdomain',
  'lan',
  'home',
  'corp',
  'intranet',
  'private',
  'svc', // services of a Kubernetes cluster
];

const isUnder = (name: string, suffix: string): boolean => name === suffix || name.endsWith(`.${suffix}`);

/** Takes a lower-case ASCII name without trailing dot, as `plainHostName` returns it. */
export function classifyHostName(name: string): HostNameKind {
  for (const metadata of METADATA_NAMES) if (isUnder(name, metadata)) return 'metadata';
  if (isUnder(name, 'localhost') || isUnder(name, 'localhost.localdomain')) return 'loopback';
  if (PRIVATE_SUFFIXES.some((suffix) => isUnder(name, suffix))) return 'private';
  // A single label is completed with the search domains of the local network.
  return name.includes('.') ? 'public' : 'private';
}

const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** The name without its trailing dot, or undefined if it is not valid in DNS. URL parsing handled case and IDN. */
export function plainHostName(hostname: string): string | undefined {
  const name = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
  if (name.length > 253) return undefined;
  return name.split('.').every((label) => LABEL.test(label)) ? name : undefined;
}
