import path from 'node:path';
import type { Args } from './args.ts';
import type { Io } from './io.ts';

export interface Settings {
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly keySource: '--key' | 'GANTRY_API_KEY' | 'none';
  readonly dataDir: string;
}

const DEFAULT_PORT = '7070';

/** Flags take precedence over the environment. */
export function readSettings(args: Pick<Args, 'text'>, io: Pick<Io, 'env' | 'cwd'>): Settings {
  // Use the port that this variable gives to the host
  const url = args.text('url') ?? (io.env.GANTRY_URL || `http://127.0.0.1:${portOf(io.env.GANTRY_PORT)}`);
  const dataDir = path.resolve(io.cwd, args.text('data') ?? (io.env.GANTRY_DATA_DIR || '.gantry'));
  return { url, dataDir, ...readKey(args.text('key'), io.env.GANTRY_API_KEY) };
}

/** For 0 the host chose a port, which only its start message shows. */
const portOf = (text = ''): string => (/^[1-9]\d{0,4}$/.test(text) ? text : DEFAULT_PORT);

function readKey(
  flag: string | undefined,
  variable: string | undefined,
): Pick<Settings, 'apiKey' | 'keySource'> {
  if (flag !== undefined) return { apiKey: flag, keySource: '--key' };
  if (variable) return { apiKey: variable, keySource: 'GANTRY_API_KEY' };
  return { apiKey: undefined, keySource: 'none' };
}
