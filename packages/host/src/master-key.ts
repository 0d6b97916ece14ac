/**
 * Secrets at rest and signatures depend on random keys of the database: root keys seal, one more signs. The master
 * key, which the operator keeps, seals these keys and nothing else.
 *
 * I1  Each purpose has its own key (HKDF), so a value made for one purpose is not valid for another.
 * I2  A sealed text opens only with the same `context`: one that is moved to another record is refused.
 * I3  The first process that opens a database creates its keys. A process whose master key does not open them does not
 *     start, and names the key that does.
 * I4  Another master key takes over in one commit, which seals the keys again. Nothing else changes: running processes
 *     continue with the keys that they have, and a crash leaves the old or the new.
 * I5  A new root key is known to every process before any process seals with it (`activeAt`). Older root keys are kept
 *     until nothing that they sealed is stored any more (`rekey.ts`).
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import path from 'node:path';
import type { Entry, Store } from '@gantry/store';
import type { Logger } from 'pino';
import { KEY_FILE, keyFromFile } from './key-file.ts';
import type { Settings } from './settings.ts';

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const ID_LENGTH = 8;
export const ROOT = { kind: 'master-key', tenant: '*', id: 'root' } as const;

export interface MasterKey {
  /** `context` identifies the record that the text belongs to, such as `webhook/acme/wh_1`. */
  seal(text: string, context: string): string;
  /** Null when it was not sealed in this database and context. */
  open(sealed: string, context: string): string | null;
  /** A separate keyed hash for each purpose, such as `interrupt-token`. */
  hmac(purpose: string): (text: string) => Buffer;
}

export interface RootKey {
  readonly secret: string;
  /** It seals from this time on, until a newer key does. */
  readonly activeAt: number;
  /** Nothing that it sealed is stored after this time. */
  readonly until?: number;
}

/** The keys that the master key seals. The newest root key is first. */
export interface DatabaseKeys {
  readonly signing: string;
  readonly roots: readonly RootKey[];
}

export interface KeyRing extends MasterKey {
  /** Whether the current key sealed it. */
  isCurrent(sealed: string): boolean;
  /** Reads the keys as stored now. */
  read(): Promise<DatabaseKeys>;
  /** Returns whether they were unchanged since `before` was read. */
  put(before: DatabaseKeys, keys: DatabaseKeys): Promise<boolean>;
}

export interface MasterKeyOptions {
  readonly settings: Pick<Settings, 'masterKey' | 'dataDir'> & Partial<Pick<Settings, 'masterKeyOld'>>;
  readonly store: Pick<Store, 'entries' | 'commit'>;
  readonly now: () => number;
  readonly log?: Pick<Logger, 'info'>;
}

/** A master key, and where the operator keeps it. */
interface Master {
  readonly secret: string;
  readonly from: string;
}

/** The stored form. `keyId` and `from` describe the master key that seals it. */
interface RootRecord {
  readonly keyId: string;
  readonly from: string;
  readonly sealed: string;
}

export async function openMasterKey(options: MasterKeyOptions): Promise<KeyRing> {
  const [current, ...others] = await mastersOf(options.settings);
  const kept = (await options.store.entries.get(ROOT)) ?? (await makeKeys(options, current));
  const record: RootRecord = JSON.parse(kept.body);
  const master = [current, ...others].find(({ secret }) => keyIdOf(secret) === record.keyId);
  const keys = master && opened(kept, master);
  if (!keys) throw new Error(otherKey(record, current));
  if (master !== current) await takeOver(options, kept, keys, current);
  return keyRing(options, current, keys);
}

function opened({ body }: Entry, master: Master): DatabaseKeys | null {
  const { sealed }: RootRecord = JSON.parse(body);
  const text = sealing(master.secret).open(sealed, ROOT.id);
  return text === null ? null : JSON.parse(text);
}

function keyRing(options: MasterKeyOptions, master: Master, first: DatabaseKeys): KeyRing {
  const { store, now } = options;
  const ringOf = (keys: DatabaseKeys) =>
    keys.roots.map(({ secret, activeAt }) => ({ activeAt, ...sealing(secret) }));
  let ring = ringOf(first);
  const current = () => ring.find(({ activeAt }) => activeAt <= now()) ?? ring.at(-1)!;
  const versions = new WeakMap<DatabaseKeys, number>();
  return {
    seal: (text, context) => current().seal(text, context),
    open(sealed, context) {
      for (const root of ring) {
        const text = root.open(sealed, context);
        if (text !== null) return text;
      }
      return null;
    },
    hmac: (purpose) => {
      const key = derive(first.signing, `hmac/${purpose}`);
      return (text) => createHmac('sha256', key).update(text).digest();
    },
    isCurrent: (sealed) => sealed.startsWith(`${current().id}.`),
    async read() {
      const entry = await store.entries.get(ROOT);
      const keys = entry && opened(entry, master);
      if (!keys) throw new Error(otherKey(JSON.parse(entry?.body ?? '{}'), master));
      versions.set(keys, entry.version);
      ring = ringOf(keys);
      return keys;
    },
    async put(before, keys) {
      const version = versions.get(before);
      if (version === undefined) throw new Error('keys are replaced after they were read');
      const [result] = await store.commit([[putKeys(options, keys, master, version)]]);
      if (result?.won) ring = ringOf(keys);
      return result?.won === true;
    },
  };
}

export const newRootKey = (activeAt: number): RootKey => ({
  secret: randomBytes(KEY_BYTES).toString('hex'),
  activeAt,
});

/**
 * The first key is used from now on. Only a key that the operator names as the old one is replaced, so that a typing
 * error does not become a new key.
 */
async function mastersOf({
  masterKey,
  masterKeyOld: old,
  dataDir,
}: MasterKeyOptions['settings']): Promise<[Master, ...Master[]]> {
  const current =
    masterKey === undefined
      ? { secret: await keyFromFile(dataDir), from: path.resolve(dataDir, KEY_FILE) }
      : { secret: masterKey, from: 'GANTRY_MASTER_KEY' };
  return [current, ...(old === undefined ? [] : [{ secret: old, from: 'GANTRY_MASTER_KEY_OLD' }])];
}

/** I3. Of several concurrent processes, one creates them. */
async function makeKeys(options: MasterKeyOptions, master: Master): Promise<Entry> {
  const { store } = options;
  const keys = { signing: randomBytes(KEY_BYTES).toString('hex'), roots: [newRootKey(0)] };
  await store.commit([[putKeys(options, keys, master, null)]]);
  const made = await store.entries.get(ROOT);
  if (!made) throw new Error('the root key of the database was not kept');
  return made;
}

/** I4. If another process was first, it did the same, or the next start reports the difference. */
async function takeOver(
  options: MasterKeyOptions,
  { version, body }: Entry,
  keys: DatabaseKeys,
  master: Master,
): Promise<void> {
  const { keyId }: RootRecord = JSON.parse(body);
  await options.store.commit([[putKeys(options, keys, master, version)]]);
  options.log?.info(
    { keyId: keyIdOf(master.secret), before: keyId },
    'the database belongs to another master key now; GANTRY_MASTER_KEY_OLD is no longer needed',
  );
}

function putKeys(
  { now }: MasterKeyOptions,
  keys: DatabaseKeys,
  { secret, from }: Master,
  expectedVersion: number | null,
) {
  const sealed = sealing(secret).seal(JSON.stringify(keys), ROOT.id);
  const record: RootRecord = { keyId: keyIdOf(secret), from, sealed };
  const times = { ref: null, dueAt: null, expiresAt: null, createdAt: now() };
  return {
    kind: 'putEntry',
    entry: { ...ROOT, ...times, body: JSON.stringify(record) },
    expectedVersion,
  } as const;
}

const otherKey = ({ keyId, from }: RootRecord, current: Master): string =>
  `This database belongs to the master key with the id ${keyId}, last used from ${from}. ` +
  `The key from ${current.from} has the id ${keyIdOf(current.secret)}. Start with the key of the database, or give ` +
  `it as GANTRY_MASTER_KEY_OLD beside the new one in GANTRY_MASTER_KEY.`;

const derive = (secret: string, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, 'gantry', purpose, KEY_BYTES));

/** Identifies a key without revealing it. */
export const keyIdOf = (secret: string): string => derive(secret, 'id').toString('hex').slice(0, ID_LENGTH);

/** A sealed text begins with the id of its key. */
function sealing(secret: string): Pick<MasterKey, 'seal' | 'open'> & { readonly id: string } {
  const key = derive(secret, 'seal');
  const keyId = keyIdOf(secret);
  const id = `${keyId}.`;
  return {
    id: keyId,
    seal(text, context) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context));
      const bytes = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
      return id + Buffer.concat(bytes).toString('base64url');
    },
    open(sealed, context) {
      if (!sealed.startsWith(id)) return null;
      const bytes = Buffer.from(sealed.slice(id.length), 'base64url');
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
