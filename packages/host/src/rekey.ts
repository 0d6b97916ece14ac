/**
 * Moves sealed texts of the database to a new root key while runs continue. Requests drive it, one step each; repeated
 * or concurrent steps do nothing twice.
 *
 * K1  If there is no new key, a step creates one, which seals nothing before every process knows it (`activeAt`).
 * K2  Then records are sealed again, each in its own change. Current records are skipped.
 * K3  After a full pass the older keys get an end: the journals of runs that they sealed are deleted by then.
 * K4  An old key is deleted after its end, and after one more pass: a process that learned of the new key late may have
 *     sealed with the old one.
 */

import { OpenwopError, type RekeyStep } from '@gantry/protocol';
import { fromEntry, openSecret, type RecordKind, type Stored, systemCaller } from '@gantry/resources';
import type { EntryKey, Store } from '@gantry/store';
import { rekeyRoutes } from './api/operator.ts';
import { type AnyKind, feature } from './feature.ts';
import { type DatabaseKeys, type KeyRing, keyIdOf, newRootKey, ROOT } from './master-key.ts';
import type { Parts } from './parts.ts';
import { INVOCATION_RETENTION_MS } from './runtime/retention.ts';
import type { Settings } from './settings.ts';

export interface RekeyOptions extends Pick<Parts, 'changes' | 'now' | 'log'> {
  readonly masterKey: KeyRing;
  readonly store: Pick<Store, 'entries' | 'watch'>;
  /** How long other processes have to learn of a new key; 0 when there are none. */
  readonly noticeMs: number;
  /** How long the journal of a run is kept. */
  readonly journalsMs: number;
  readonly kinds: readonly AnyKind[];
}

const PAGE = 100;
/** The limit of one step, so that a request is answered soon. */
const STEP_MS = 2_000;
/** Old keys stay for 31 days. After leaks there may be many in one day; the limit only bounds what is kept. */
const KEYS_MAX = 100;

export type Rekey = ReturnType<typeof createRekey>;

export function createRekey(options: RekeyOptions) {
  const { masterKey, store, now, log, noticeMs, journalsMs } = options;
  let unwatch: (() => Promise<void>) | undefined;

  async function begun(): Promise<DatabaseKeys> {
    const keys = await masterKey.read();
    const [newest, ...older] = keys.roots;
    if (newest!.activeAt > now() || older.some(({ until }) => until === undefined)) return keys;
    if (keys.roots.length >= KEYS_MAX) throw full(older.map(({ until = 0 }) => until));
    const more = { ...keys, roots: [newRootKey(now() + noticeMs), ...keys.roots] };
    if (!(await masterKey.put(keys, more))) return begun();
    log.info({ keyId: keyIdOf(more.roots[0]!.secret) }, 'a new root key was made');
    return masterKey.read();
  }

  /** K3. */
  async function ended(): Promise<RekeyStep['endsAt']> {
    const keys = await masterKey.read();
    const [newest, ...older] = keys.roots;
    const until = now() + journalsMs;
    const roots = [newest!, ...older.map((root) => ({ until, ...root }))];
    if (!(await masterKey.put(keys, { ...keys, roots }))) return ended();
    return new Date(Math.max(...roots.map((root) => root.until ?? 0))).toISOString();
  }

  return {
    async step(after?: string): Promise<RekeyStep> {
      const { roots } = await begun();
      const keyId = keyIdOf(roots[0]!.secret);
      const waitMs = roots[0]!.activeAt - now();
      if (waitMs > 0) return { state: 'waiting', keyId, resealed: 0, unreadable: 0, waitMs };
      const { next, ...counts } = await pass(options, after, now() + STEP_MS);
      if (next !== undefined) return { state: 'resealing', keyId, ...counts, next };
      const endsAt = await ended();
      return { state: 'done', keyId, ...counts, ...(endsAt !== undefined && { endsAt }) };
    },
    /** K4. */
    async sweep(): Promise<number> {
      const keys = await masterKey.read();
      const kept = keys.roots.filter(({ until = Number.POSITIVE_INFINITY }) => until > now());
      if (kept.length === keys.roots.length) return 0;
      await pass(options, undefined, Number.POSITIVE_INFINITY);
      if (!(await masterKey.put(keys, { ...keys, roots: kept }))) return 0;
      return keys.roots.length - kept.length;
    },
    async start(): Promise<void> {
      unwatch = await store.watch(({ missed, kinds }) => {
        if (missed || kinds.includes(ROOT.kind))
          masterKey.read().catch((error) => log.error({ err: error }, 'the root keys cannot be read'));
      });
      await masterKey.read();
    },
    stop: async (): Promise<void> => unwatch?.(),
  };
}

const full = (ends: readonly number[]): OpenwopError =>
  new OpenwopError('conflict', {
    message: `The database has ${KEYS_MAX} root keys. The next of the old ones is deleted at ${new Date(Math.min(...ends)).toISOString()}.`,
  });

interface Passed {
  readonly resealed: number;
  /** Records that no key of the database opens. */
  readonly unreadable: number;
  /** The cursor of the next step; absent after the last record. */
  readonly next?: string;
}

/** K2. */
async function pass(options: RekeyOptions, cursor: string | undefined, until: number): Promise<Passed> {
  const { store, now } = options;
  const kinds = options.kinds.filter(isSealed);
  const counts = { current: 0, resealed: 0, unreadable: 0 };
  let after = readCursor(cursor);
  for (const kind of kinds.slice(
    Math.max(
      0,
      kinds.findIndex((each) => each.kind === after?.kind),
    ),
  )) {
    for (let more = true; more; ) {
      const page = await store.entries.all(kind.kind, after, PAGE);
      for (const entry of page) counts[await sealAnew(options, fromEntry(kind, entry))]++;
      after = page.at(-1) ?? null;
      more = page.length === PAGE;
      const { resealed, unreadable } = counts;
      if (more && after && now() > until)
        return { resealed, unreadable, next: JSON.stringify([after.kind, after.tenant, after.id]) };
    }
    after = null;
  }
  return { resealed: counts.resealed, unreadable: counts.unreadable };
}

const isSealed = (kind: AnyKind): kind is RecordKind<object> =>
  typeof kind !== 'string' && (kind.secret !== undefined || kind.reseal !== undefined);

/** An invalid cursor starts the pass again. */
function readCursor(cursor = ''): EntryKey | null {
  const [, ...texts] = /^\[("[^"]*"),("[^"]*"),("[^"]*")\]$/.exec(cursor) ?? [];
  const [kind, tenant, id] = texts.map((text): string => JSON.parse(text));
  return kind === undefined || tenant === undefined || id === undefined ? null : { kind, tenant, id };
}

type Sealing = 'current' | 'resealed' | 'unreadable';

async function sealAnew<R extends object>(
  { masterKey, changes }: RekeyOptions,
  listed: Stored<R>,
): Promise<Sealing> {
  const before = sealedAnew(masterKey, listed);
  if (before.sealing !== 'resealed') return before.sealing;
  const caller = systemCaller('rekey', listed);
  return changes.run(caller, async (change) => {
    const stored = await change.find(listed.kind, listed.id);
    if (!stored) return 'current';
    const { sealing, record } = sealedAnew(masterKey, stored);
    if (sealing === 'resealed') change.reseal(stored, record);
    return sealing;
  });
}

function sealedAnew<R extends object>(
  masterKey: KeyRing,
  stored: Stored<R>,
): { readonly sealing: Sealing; readonly record: R } {
  const found = new Set<Sealing>();
  const opened = (text: string | null): string | null => {
    found.add(text === null ? 'unreadable' : 'resealed');
    return text;
  };
  const again = (sealed: string, context: string): string => {
    const text = masterKey.isCurrent(sealed) ? null : opened(masterKey.open(sealed, context));
    return text === null ? sealed : masterKey.seal(text, context);
  };
  const record = { ...stored.record, ...stored.kind.reseal?.(stored.record, stored, again) } as R;
  // The change seals them
  const texts = (stored.kind.secret ?? []).flatMap((field) => {
    const kept: unknown = record[field];
    const isSealed = typeof kept === 'object' && kept !== null && 'sealed' in kept;
    if (!isSealed || masterKey.isCurrent(String(kept.sealed))) return [];
    const text = opened(openSecret(masterKey, stored, field));
    return text === null ? [] : [[field, text]];
  });
  const order: readonly Sealing[] = ['resealed', 'unreadable'];
  const sealing = order.find((each) => found.has(each)) ?? 'current';
  return { sealing, record: { ...record, ...Object.fromEntries(texts) } };
}

/** Longer than a process continues after it has lost the database. */
const NOTICE_MS = 30_000;

interface Needs extends Omit<RekeyOptions, 'noticeMs' | 'journalsMs'> {
  readonly settings: Pick<Settings, 'databaseUrl'>;
}

/** First, so that this process knows a new key before it seals anything. */
export const rekeyFeature = feature({
  name: 'rekey',
  kinds: [ROOT.kind],
  open({ settings, ...parts }: Needs) {
    const noticeMs = settings.databaseUrl === undefined ? 0 : NOTICE_MS;
    return createRekey({ ...parts, noticeMs, journalsMs: INVOCATION_RETENTION_MS });
  },
  routes: (app, rekey) => rekeyRoutes(app, rekey),
});
