/**
 * Sessions of browsers, and links that sign in once. Both are kept as hashes of random values, and end with their key.
 *
 * S1  A session ends `IDLE_MS` after it was last seen, and `LIFETIME_MS` after it began.
 * S2  The code of a link works once: using it deletes it in the commit that begins the session.
 */
import { type BrowserSessions, isLiveKey, type SessionId, sessionIdOf, sessionValue } from '@gantry/http';
import {
  type Change,
  listRecords,
  type RecordKind,
  readRecord,
  type Stored,
  systemCaller,
} from '@gantry/resources';
import type { KeyRecord } from '@gantry/store';
import { feature } from '../feature.ts';
import type { Parts } from '../parts.ts';

export const LIFETIME_MS = 7 * 86_400_000;
const IDLE_MS = 12 * 3_600_000;
/** How often a session that is in use is written. */
const SEEN_EVERY_MS = 3_600_000;
const LINK_MS = 600_000;
const SECRET_BYTES = 32;
/** The oldest end when a key has more. */
const PER_KEY_MAX = 20;

interface Session {
  readonly keyId: string;
  readonly keyHash: string;
  readonly seenAt: number;
  readonly endsAt: number;
}

interface Link {
  readonly keyId: string;
  readonly keyHash: string;
  readonly endsAt: number;
}

const endOf = ({ seenAt, endsAt }: Session): number => Math.min(endsAt, seenAt + IDLE_MS);

const sessions: RecordKind<Session> = {
  kind: 'session',
  idPrefix: 'ses',
  ref: ({ keyId }) => keyId,
  expiresAt: endOf,
};

const links: RecordKind<Link> = {
  kind: 'sign-in-link',
  idPrefix: 'sil',
  ref: ({ keyId }) => keyId,
  expiresAt: ({ endsAt }) => endsAt,
};

/** The kind of entries that tells other processes that a session has ended. */
export const SESSION_KIND = sessions.kind;

/** What is shown once, and until when it works. */
export interface Begun {
  readonly value: string;
  readonly endsAt: number;
}

const by = (tenant: string) => systemCaller('console', { tenant });

export class Sessions {
  readonly #parts: Pick<Parts, 'changes' | 'store' | 'now' | 'randomBytes'>;

  constructor(parts: Pick<Parts, 'changes' | 'store' | 'now' | 'randomBytes'>) {
    this.#parts = parts;
  }

  /** For authentication. A session in use is written again from time to time (S1). */
  readonly find: BrowserSessions['find'] = async ({ tenant, hash }) => {
    const stored = await readRecord(this.#parts.store.entries, sessions, tenant, hash);
    const now = this.#parts.now();
    if (stored === null || endOf(stored.record) <= now) return null;
    const seen = await this.#seen(stored, now);
    return { keyHash: seen.keyHash, endsAt: endOf(seen) };
  };

  begin(key: KeyRecord): Promise<Begun> {
    return this.#parts.changes.run(by(key.tenant), (change) => this.#begin(change, key));
  }

  /** The key of a link that has not been used; null for every other code. */
  async redeem(code: string): Promise<{ readonly key: KeyRecord; readonly begun: Begun } | null> {
    const id = sessionIdOf(code);
    if (id === null) return null;
    return this.#parts.changes.run(by(id.tenant), async (change) => {
      const link = await change.find(links, id.hash);
      if (link === null || link.record.endsAt <= change.now) return null;
      const key = await this.#parts.store.records.keyByHash(link.record.keyHash);
      if (key === null || !isLiveKey(key, change.now)) return null;
      change.delete(link);
      return { key, begun: await this.#begin(change, key) };
    });
  }

  async end({ tenant, hash }: SessionId): Promise<void> {
    await this.#parts.changes.run(by(tenant), async (change) => {
      const session = await change.find(sessions, hash);
      if (session) change.delete(session);
    });
  }

  link({ tenant, keyId, hash: keyHash }: Pick<KeyRecord, 'tenant' | 'keyId' | 'hash'>): Promise<Begun> {
    return this.#parts.changes.run(by(tenant), async (change) => {
      const endsAt = change.now + LINK_MS;
      const { value, id } = this.#secret(tenant);
      await this.#makeRoom(change, links, keyId);
      change.create(links, { keyId, keyHash, endsAt }, id.hash);
      return { value, endsAt };
    });
  }

  async #begin(change: Change, { tenant, keyId, hash: keyHash }: KeyRecord): Promise<Begun> {
    const endsAt = change.now + LIFETIME_MS;
    const { value, id } = this.#secret(tenant);
    await this.#makeRoom(change, sessions, keyId);
    change.create(sessions, { keyId, keyHash, seenAt: change.now, endsAt }, id.hash);
    return { value, endsAt };
  }

  async #seen(stored: Stored<Session>, seenAt: number): Promise<Session> {
    const { record } = stored;
    if (seenAt - record.seenAt < SEEN_EVERY_MS) return record;
    const next = { ...record, seenAt };
    try {
      // False when another request of the session was first
      await this.#parts.changes.settle('console', stored, next);
      return next;
    } catch {
      return record; // a store that cannot be written can still be read
    }
  }

  async #makeRoom<R extends object>(change: Change, kind: RecordKind<R>, keyId: string): Promise<void> {
    const { entries } = this.#parts.store;
    const all = await listRecords(entries, kind, change.caller.tenant, {
      ref: keyId,
      limit: 2 * PER_KEY_MAX,
    });
    const oldest = all.sort((a, b) => b.createdAt - a.createdAt).slice(PER_KEY_MAX - 1);
    for (const { id } of oldest) {
      const found = await change.find(kind, id);
      if (found) change.delete(found);
    }
  }

  #secret(tenant: string) {
    const value = sessionValue(this.#parts.randomBytes(SECRET_BYTES), tenant);
    return { value, id: sessionIdOf(value)! };
  }
}

export const sessionsFeature = feature({
  name: 'sessions',
  kinds: [sessions, links],
  open: (parts: Pick<Parts, 'changes' | 'store' | 'now' | 'randomBytes'>) => new Sessions(parts),
});
