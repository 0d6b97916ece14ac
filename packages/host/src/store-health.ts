/**
 * Whether the store accepts work, judged by the regular commits and lease renewals of the host. Also reports when this
 * machine's clock and the store's differ.
 */
import { randomUUID } from 'node:crypto';
import { type CommitGroup, type Store, StoreError } from '@gantry/store';
import type { Parts } from './parts.ts';

const SKEW_MS_MAX = 1_000;

export interface StoreHealthOptions extends Pick<Parts, 'store' | 'log'> {
  /** Null if the lease is not renewed. */
  readonly renewEveryMs: number | null;
}

export type StoreHealth = ReturnType<typeof watchStore>;

export function watchStore({ store, log, renewEveryMs }: StoreHealthOptions) {
  let isFull = false;
  let renewedAt = performance.now();
  let skewMs = skewOf(store);
  const noteFailure = (error: unknown): never => {
    if (error instanceof StoreError && error.code === 'disk_full') isFull = true;
    throw error;
  };
  const commit = async (groups: readonly CommitGroup[]) => {
    const results = await store.commit(groups).catch(noteFailure);
    isFull = false;
    return results;
  };
  const renew: Store['leases']['renew'] = async (...terms) => {
    const isRenewed = await store.leases.renew(...terms).catch(noteFailure);
    isFull = false;
    renewedAt = performance.now();
    const wasSkewed = isSkewed(skewMs);
    skewMs = skewOf(store);
    if (isSkewed(skewMs) && !wasSkewed) log.warn({ skewMs }, SKEWED);
    return isRenewed;
  };
  return {
    /** The same store, with its commits and renewals observed. */
    store: { ...store, commit, leases: { ...store.leases, renew } },
    /** This machine's clock minus the store's, in milliseconds, as of the last renewal. */
    get clockSkewMs(): number {
      return skewMs;
    },
    /** Why the host should get no work now, as a sentence; null if there is no problem. */
    async problem(): Promise<string | null> {
      const sinceMs = performance.now() - renewedAt;
      if (renewEveryMs !== null && sinceMs > 2 * renewEveryMs)
        return `The database has not answered for ${Math.round(sinceMs / 1_000)} s.`;
      // There may be no other writes while the host is not ready
      if (isFull) await commit([probeWrites()]).catch(() => {});
      return isFull ? 'The disk of the database is full.' : null;
    },
  };
}

const SKEWED =
  "this machine's clock and the database's differ; leases and timers follow the database. Check that both are correct.";

const skewOf = (store: Store): number => (store.now ? Date.now() - store.now() : 0);
const isSkewed = (skewMs: number): boolean => Math.abs(skewMs) > SKEW_MS_MAX;

/** As large as an entry may be before its body is stored elsewhere. */
const PROBE_BODY = JSON.stringify('x'.repeat(60_000));

/** Needs space on the disk, and leaves nothing behind. */
function probeWrites(): CommitGroup {
  const key = { kind: 'probe', tenant: '*', id: randomUUID() };
  const times = { dueAt: null, expiresAt: null, createdAt: 0 };
  return [
    { kind: 'putEntry', entry: { ...key, ...times, ref: null, body: PROBE_BODY }, expectedVersion: null },
    { kind: 'deleteEntry', key, expectedVersion: 1 },
  ];
}
