/** Settings that name a server by its URL, looked at before anything is opened. Pure. */
import { SettingsError } from '@gantry/http';
import { type BackendSettings, notServed } from '@gantry/surfaces';

export type ServerPort = Exclude<keyof BackendSettings, 'datasources'>;

const POSTGRES = ['postgres', 'postgresql'];
const REDIS = ['redis', 'rediss'];
/** A test holds them equal to what the surfaces open. */
const SCHEMES: Readonly<Record<ServerPort, readonly string[]>> = {
  kv: [...POSTGRES, ...REDIS],
  cache: [...POSTGRES, ...REDIS],
  documents: POSTGRES,
  vectors: POSTGRES,
  search: POSTGRES,
  queue: [...POSTGRES, 'nats', 'nats+tls', 'amqp', 'amqps'],
  blobs: ['s3'],
};

export function readBackend(name: string, port: ServerPort, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const scheme = URL.canParse(text) ? new URL(text).protocol.slice(0, -1) : null;
  if (scheme !== null && SCHEMES[port].includes(scheme)) return text;
  throw new SettingsError(notServed(name, text, SCHEMES[port]));
}
