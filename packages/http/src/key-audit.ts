/** What happens to keys, for the audit log of a server. Never with the secret of a key. */
import type { KeyRecord, Store, Write } from '@gantry/store';
import type { Logger } from 'pino';

export interface KeyEvent {
  readonly type: 'key.created' | 'key.used' | 'key.revoked';
  readonly key: KeyRecord;
  /** The principal that did it; `host` for the server itself. */
  readonly by: string;
}

/** Made for the commit of its cause. Of the uses of a key on one day, all but one lose. */
export type AuditKey = (event: KeyEvent) => Write;

export interface KeyUseOptions {
  readonly store: Pick<Store, 'commit'>;
  readonly now: () => number;
  readonly log: Pick<Logger, 'warn'>;
  readonly audit?: AuditKey;
}

const DAY_MS = 86_400_000;

/** Records that a key was used, once for each day (UTC), beside the request. */
export function keyUses({ store, now, log, audit }: KeyUseOptions): (key: KeyRecord) => void {
  let day = 0;
  const seen = new Set<string>();
  return (key) => {
    if (!audit) return;
    const today = Math.floor(now() / DAY_MS);
    if (today !== day) seen.clear();
    day = today;
    if (seen.has(key.keyId)) return;
    seen.add(key.keyId);
    store.commit([[audit({ type: 'key.used', key, by: key.principal })]]).catch((error) => {
      seen.delete(key.keyId);
      log.warn(
        { err: error, keyId: key.keyId },
        'the use of a key could not be recorded; tried again with the next',
      );
    });
  };
}
