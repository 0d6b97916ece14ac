/**
 * Resolves names without threads. `getaddrinfo` blocks one of the few threads of the process while a name server
 * does not answer, and cannot be cancelled: a few slow names would delay every lookup and file access.
 */
import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import type { Lookup } from './resolve.ts';

const HOSTS_FILE = '/etc/hosts';
const SERVER_TIMEOUT_MS = 2_000;
const TRIES = 2;
/** RFC 6761: this name is never sent to a name server. */
const LOCALHOST: readonly string[] = ['127.0.0.1', '::1'];

export interface NameLookupOptions {
  /** `address` or `address:port`. Default: those of the machine. */
  readonly servers?: readonly string[] | undefined;
  readonly hostsFile?: string;
}

/** Uses the hosts file first, like the machine, then its name servers. Search domains are never added. */
export const nameLookup =
  ({ servers, hostsFile = HOSTS_FILE }: NameLookupOptions = {}): Lookup =>
  async (hostname, signal) => {
    // Read each time: the file is small, and the operator may change it
    const fixed = addressesIn(await readFile(hostsFile, 'utf8').catch(() => ''), hostname);
    if (fixed.length > 0) return fixed;
    if (hostname === 'localhost' || hostname.endsWith('.localhost')) return LOCALHOST;
    return ask(hostname, servers, signal);
  };

function addressesIn(hosts: string, hostname: string): string[] {
  return hosts.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const isNamed = names.some((name) => name.toLowerCase() === hostname);
    return isNamed && isIP(address) ? [address] : [];
  });
}

/** One family is enough: many names have no IPv6 address, and some name servers do not answer queries for it. */
async function ask(
  hostname: string,
  servers: readonly string[] | undefined,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  signal?.throwIfAborted();
  const resolver = new Resolver({ timeout: SERVER_TIMEOUT_MS, tries: TRIES });
  if (servers && servers.length > 0) resolver.setServers(servers);
  const cancel = (): void => resolver.cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    if (v4.status === 'rejected' && v6.status === 'rejected') throw v4.reason;
    return [v4, v6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  } finally {
    signal?.removeEventListener('abort', cancel);
  }
}
