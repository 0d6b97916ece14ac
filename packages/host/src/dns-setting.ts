import { isIP } from 'node:net';
import { SettingsError } from '@gantry/http';

const WITH_PORT = /^(?:\[(.+)\]|([\d.]+)):\d{1,5}$/;

/** Addresses of name servers, each with a port or without: `192.0.2.1`, `192.0.2.1:5353`, `[2001:db8::1]:53`. */
export function dnsServersOf(servers: string[]): string[] {
  for (const server of servers) {
    const [, v6, v4] = WITH_PORT.exec(server) ?? [];
    if (isIP(v6 ?? v4 ?? server) === 0)
      throw new SettingsError(
        `GANTRY_DNS_SERVERS: "${server}" is not an address such as 192.0.2.1 or [2001:db8::1]:53.`,
      );
  }
  return servers;
}
