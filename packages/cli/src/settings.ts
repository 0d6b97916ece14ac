import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Args } from './args.ts';
import type { Io } from './io.ts';

export interface Settings {
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly keySource: '--key' | 'GANTRY_API_KEY' | 'admin.key' | 'none';
  readonly dataDir: string;
}

const DEFAULT_URL = 'http://127.0.0.1:7070';

/** Flags win over the environment. */
export function readSettings(args: Pick<Args, 'text'>, io: Pick<Io, 'env' | 'cwd'>): Settings {
  const url = args.text('url') ?? (io.env.GANTRY_URL || DEFAULT_URL);
  const dataDir = path.resolve(io.cwd, args.text('data') ?? (io.env.GANTRY_DATA_DIR || '.gantry'));
  return { url, dataDir, ...readKey(args.text('key'), io.env.GANTRY_API_KEY, url, dataDir) };
}

function readKey(
  flag: string | undefined,
  variable: string | undefined,
  url: string,
  dataDir: string,
): Pick<Settings, 'apiKey' | 'keySource'> {
  if (flag !== undefined) return { apiKey: flag, keySource: '--key' };
  if (variable) return { apiKey: variable, keySource: 'GANTRY_API_KEY' };
  // The admin key of this machine's host must not travel to another one.
  const found = isLoopback(url) ? readLine(path.join(dataDir, 'admin.key')) : undefined;
  return found ? { apiKey: found, keySource: 'admin.key' } : { apiKey: undefined, keySource: 'none' };
}

export function isLoopback(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

function readLine(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return undefined;
  }
}
