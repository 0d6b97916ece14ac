/** Settings that name a server by its URL, looked at before anything is opened. Pure. */
import { SettingsError } from '@gantry/http';
import { type BackendSettings, notServed } from '@gantry/surfaces';

export type ServerPort = Exclude<keyof BackendSettings, 'datasources'>;

const POSTGRES = ['postgres', 'postgresql'];
/** A test holds them equal to what the surfaces open. */
const SCHEMES: Readonly<Record<ServerPort, readonly string[]>> = {
  kv: POSTGRES,
  cache: POSTGRES,
  documents: POSTGRES,
  vectors: POSTGRES,
  search: POSTGRES,
  queue: POSTGRES,
  blobs: ['s3'],
};

export function readBackend(name: string, port: ServerPort, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const scheme = URL.canParse(text) ? new URL(text).protocol.slice(0, -1) : null;
  if (scheme !== null && SCHEMES[port].includes(scheme)) return text;
  throw new SettingsError(notServed(name, text, SCHEMES[port]));
}
