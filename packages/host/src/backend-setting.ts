/** Settings that name a server by its URL, looked at before anything is opened. Pure. */
import { SettingsError } from '@gantry/http';
import type { BackendSettings } from '@gantry/surfaces';

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

/** Only the scheme is repeated: the rest may hold a password. */
export function readBackend(name: string, port: ServerPort, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const scheme = URL.canParse(text) ? new URL(text).protocol.slice(0, -1) : null;
  if (scheme !== null && SCHEMES[port].includes(scheme)) return text;
  const served = SCHEMES[port].map((each) => `${each}://`);
  throw new SettingsError(
    `${name} ${scheme === null ? 'is no URL' : `asks for "${scheme}://", which is not served`}. ` +
      `Use ${served.join(' or ')}, or leave it out to keep the data in the data folder.`,
  );
}
