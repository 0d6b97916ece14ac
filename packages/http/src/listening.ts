/** The address of a server for its operator and its clients. */
import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Api } from './context.ts';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

const EVERY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::', '[::]']);

/** Returns a URL that works from other machines if `host` means all addresses of this one. */
export async function listen(app: Api, { host, port }: { host: string; port: number }): Promise<string> {
  const url = await app.listen({ host, port });
  const address = EVERY_ADDRESS.has(host) ? outsideAddress() : undefined;
  if (address === undefined) return url;
  return `http://${address}:${new URL(url).port || '80'}`;
}

function outsideAddress(): string | undefined {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.find(({ internal, family }) => !internal && family === 'IPv4')?.address;
}

/** Warnings for the operator of a server that other machines reach without TLS. */
export function openWarnings(host: string, publicUrl: string | undefined, setting: string): string[] {
  const family = isIP(host) === 6 ? 'ipv6' : 'ipv4';
  const isLocal = host === 'localhost' || (isIP(host) !== 0 && LOOPBACK.check(host, family));
  if (isLocal || publicUrl?.startsWith('https:')) return [];
  return [
    `Other machines reach ${host} without TLS, so keys can be read on the way. Put a proxy with TLS in front, and set ${setting} to its https address.`,
  ];
}
