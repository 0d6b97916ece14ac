/**
 * The host's one secret. Everything that must be secret at rest, or provably ours, hangs on a key derived from it.
 *
 * I1  Each purpose has its own key (HKDF), so no purpose can be played against another.
 * I2  What was sealed opens only with the same `context`: a sealed text moved to another record is refused.
 * I3  One database, one master key: the first use leaves a check in the store, and a process with another key
 *     is refused when it starts or wants to use its key.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { link, open as openFile, readFile, unlink } from 'node:fs/promises';
import path from 'node:path';
import type { Store } from '@gantry/store';
import type { Settings } from './settings.ts';

const FILE = 'master.key';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CHECK = { kind: 'master-key', tenant: '*', id: 'check' } as const;
const CHECK_TEXT = 'gantry';

export interface MasterKey {
  /** `context` says what the text belongs to, such as `webhook/acme/wh_1`. */
  seal(text: string, context: string): string;
  /** Null when this key did not seal it in this context. */
  open(sealed: string, context: string): string | null;
  /** A keyed hash of its own for each purpose, such as `interrupt-token`. */
  hmac(purpose: string): (text: string) => Buffer;
  /** I3: call before something sealed is kept. Rejects when the database belongs to another key. */
  claim(): Promise<void>;
}

export interface MasterKeyOptions {
  readonly settings: Pick<Settings, 'masterKey' | 'dataDir'>;
  readonly store: Pick<Store, 'entries' | 'commit'>;
  readonly now: () => number;
}

export async function openMasterKey({ settings, store, now }: MasterKeyOptions): Promise<MasterKey> {
  const secret = settings.masterKey ?? (await keyFromFile(settings.dataDir));
  const { seal, open } = sealing(secret);
  const isOurs = (body: string): boolean => open(JSON.parse(body).sealed, CHECK.id) === CHECK_TEXT;
  let claimed = false;

  const check = async (): Promise<boolean> => {
    const kept = await store.entries.get(CHECK);
    if (kept !== null && !isOurs(kept.body)) throw new Error(OTHER_KEY);
    return kept !== null;
  };
  const leave = (): Promise<unknown> => {
    const body = JSON.stringify({ sealed: seal(CHECK_TEXT, CHECK.id) });
    const entry = { ...CHECK, ref: null, dueAt: null, expiresAt: null, createdAt: now(), body };
    return store.commit([[{ kind: 'putEntry', entry, expectedVersion: null }]]);
  };
  claimed = await check();

  return {
    seal,
    open,
    hmac: (purpose) => {
      const key = derive(secret, `hmac/${purpose}`);
      return (text) => createHmac('sha256', key).update(text).digest();
    },
    async claim() {
      if (claimed) return;
      await leave();
      claimed = await check();
    },
  };
}

const OTHER_KEY =
  'GANTRY_MASTER_KEY is not the key that this database was first used with. ' +
  'Start every process of one database with the same GANTRY_MASTER_KEY, or with the same master.key file.';

const derive = (secret: string, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, 'gantry', purpose, KEY_BYTES));

function sealing(secret: string): Pick<MasterKey, 'seal' | 'open'> {
  const key = derive(secret, 'seal');
  return {
    seal(text, context) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context));
      const bytes = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
      return Buffer.concat(bytes).toString('base64url');
    },
    open(sealed, context) {
      const bytes = Buffer.from(sealed, 'base64url');
      if (bytes.length < NONCE_BYTES + TAG_BYTES) return null;
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES));
      decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(-TAG_BYTES));
      try {
        const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
        return Buffer.concat([text, decipher.final()]).toString('utf8');
      } catch {
        return null;
      }
    },
  };
}

/** Made at the first start. The file appears whole or not at all; of two processes, one makes it. */
async function keyFromFile(dataDir: string): Promise<string> {
  const file = path.join(dataDir, FILE);
  const kept = await readKey(file);
  if (kept !== null) return kept;
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  const handle = await openFile(draft, 'wx', 0o600);
  try {
    await handle.writeFile(`${randomBytes(KEY_BYTES).toString('hex')}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  try {
    await link(draft, file);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    await unlink(draft);
  }
  await syncFolder(dataDir);
  const made = await readKey(file);
  if (made === null) throw new Error(`${file} vanished while it was being made`);
  return made;
}

async function readKey(file: string): Promise<string | null> {
  try {
    const text = (await readFile(file, 'utf8')).trim();
    if (/^[0-9a-f]{64}$/.test(text)) return text;
    throw new Error(`${FILE} in the data folder is damaged. Restore it from a backup.`);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await openFile(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;
