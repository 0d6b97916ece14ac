/** Chooses the backend of a port by its setting: nothing for the data folder, else a URL. */

export interface OpenedPort<Port> {
  readonly kind: string;
  readonly port: Port;
  /** Rejects when the backend cannot be used for now. */
  health(): Promise<void>;
}

/** By port: the setting that names its backend. */
export const SETTINGS = {
  kv: 'GANTRY_KV',
  cache: 'GANTRY_CACHE',
  documents: 'GANTRY_DOCUMENTS',
  vectors: 'GANTRY_VECTORS',
  search: 'GANTRY_SEARCH',
  queue: 'GANTRY_QUEUE',
  blobs: 'GANTRY_BLOBS',
  datasources: 'GANTRY_DATASOURCES',
} as const;

/** By scheme, without the colon. They connect to nothing yet. */
export type Backends<Port> = Readonly<Record<string, (url: string) => Promise<OpenedPort<Port>>>>;

export interface PortChoice<Port> {
  /** `GANTRY_KV` */
  readonly name: string;
  readonly value: string | undefined;
  readonly embedded: Port;
  readonly backends: Backends<Port>;
}

export const NO_URL =
  'is not a valid URL; characters such as # ? / @ % in a password must be percent-encoded, as %23 for #';

/**
 * Whether every part of it can be read. What ends a host too early, with an `@` to come, is a password that is not
 * encoded; so is a fragment, which servers have none of.
 */
export function isServerUrl(value: string): boolean {
  const [, rest = ''] = /^[^:]*:\/\/[^/?#]*(.*)$/s.exec(value) ?? [];
  if (!URL.canParse(value)) return false;
  const { protocol, username, password, pathname } = new URL(value);
  // Has no password, and says better by itself what is wrong
  if (protocol === 's3:') return true;
  if (/[#@]/.test(rest)) return false;
  return [username, password, pathname].every(isEncoded);
}

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** By `schemes`, without the colon. Of the setting only the scheme is repeated: the rest may hold a password. */
export function notServed(name: string, value: string, schemes: readonly string[]): string {
  const own = schemes.includes('s3') ? 'the data folder' : 'SQLite in the data folder';
  const how = `${schemes.map((each) => `${each}://`).join(' or ')}, or leave it out to keep the data in ${own}.`;
  return isServerUrl(value)
    ? `${name} asks for "${new URL(value).protocol}//", which is not served: use ${how}`
    : `${name} ${NO_URL}. Use ${how}`;
}

/** Connects to nothing. Never repeats the setting: it may hold a password. */
export async function openPort<Port>(choice: PortChoice<Port>): Promise<OpenedPort<Port>> {
  const { name, value, embedded, backends } = choice;
  if (value === undefined) return { kind: 'embedded', port: embedded, health: async () => {} };
  const scheme = isServerUrl(value) ? new URL(value).protocol.slice(0, -1) : null;
  const open = scheme !== null && Object.hasOwn(backends, scheme) ? backends[scheme] : undefined;
  if (open) return named(name, open(value));
  throw new Error(notServed(name, value, Object.keys(backends)));
}

/** What can never work is told with the setting that asks for it. */
export async function named<T>(setting: string, opening: Promise<T>): Promise<T> {
  try {
    return await opening;
  } catch (error) {
    throw new Error(`${setting}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}
