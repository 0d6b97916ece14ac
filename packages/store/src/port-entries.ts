/** The part of the port for entries, their index and their feed. */
export interface EntryKey {
  /** `mail`, `webhook`, `delivery`, `schedule`, ... */
  readonly kind: string;
  readonly tenant: string;
  readonly id: string;
}

/**
 * A small durable record with a version and, if it has scheduled work, a due time. Mail between runs, webhooks and
 * their deliveries, schedules, heartbeats and triggers are entries.
 */
export interface Entry extends EntryKey {
  readonly workspace: string | null;
  /** The parent: the run of a mail, the webhook of a delivery. */
  readonly ref: string | null;
  /** 1 when created; each put adds one. */
  readonly version: number;
  readonly dueAt: number | null;
  /** The retention sweep deletes the entry after this time; null keeps it. */
  readonly expiresAt: number | null;
  readonly createdAt: number;
  /** JSON text. */
  readonly body: string;
}

/** A value by which an entry is found. A unique value occurs once per kind, tenant and name. */
export interface IndexValue {
  readonly name: string;
  readonly value: string;
  readonly unique?: true;
}

/** The values that a put writes. They replace the whole entry, including its index values. */
export interface NewEntry extends Omit<Entry, 'version' | 'workspace'> {
  readonly workspace?: string | null;
  /** Deleted with this run. */
  readonly runId?: string;
  readonly index?: readonly IndexValue[];
}

/** Adds a row about the change to the feed. */
export interface FeedNote {
  readonly actor: string | null;
  readonly at: number;
}

export interface FeedRow extends EntryKey, FeedNote {
  /** Increasing; not dense. */
  readonly number: number;
  readonly workspace: string | null;
  /** For a deletion: the version that was deleted. */
  readonly version: number;
  readonly op: 'create' | 'update' | 'delete';
}

export interface EntryFilter {
  readonly ref?: string;
  /** Entries with this index value. Excludes `ref`. */
  readonly index?: Pick<IndexValue, 'name' | 'value'>;
  /** Entries with a lower id (ids sort by time): the cursor of the list. */
  readonly beforeId?: string;
  /** Entries with a higher id: the cursor of a list that is oldest first. */
  readonly afterId?: string;
  readonly oldestFirst?: true;
  readonly limit: number;
  /** The page ends with the entry whose body brings the total above this many bytes. */
  readonly bytesMax?: number;
}

/** Values of one index name, from `from` (inclusive) to `to` (exclusive). `prefix`: values that start with it. */
export interface IndexRange {
  readonly name: string;
  readonly prefix?: string;
  readonly from?: string;
  readonly to?: string;
  /** The last entry of the previous page. */
  readonly after?: Pick<IndexedEntry, 'value' | 'id'>;
  readonly limit: number;
}

export interface IndexedEntry extends Entry {
  readonly value: string;
}

/** Changes of entries whose writes had a `FeedNote`, in the order of their numbers. Kept for `FEED_KEPT_MS`. */
export interface FeedReads {
  /** Null if rows after the cursor have expired: read the current entries, then continue from `last`. */
  after(
    cursor: number,
    options: { tenant: string; now: number; limit: number /** Default: all. */; kind?: string },
  ): Promise<FeedPage | null>;
  /** The cursor after the last committed row. */
  last(): Promise<number>;
}

export interface FeedPage {
  readonly rows: readonly FeedRow[];
  /** The cursor of the next page. */
  readonly next: number;
}

export const FEED_KEPT_MS = 7 * 86_400_000;

export interface CounterRange {
  readonly prefix: string;
  readonly afterId?: string;
  readonly limit: number;
}

export interface Counter {
  readonly id: string;
  readonly value: number;
}

export interface EntryReads {
  get(key: EntryKey): Promise<Entry | null>;
  /** In the order of the keys, from one snapshot. */
  getMany(keys: readonly EntryKey[]): Promise<(Entry | null)[]>;
  /** Like `getMany`, but a large body is not read: the result is `large`. */
  getSmall(keys: readonly EntryKey[]): Promise<(Entry | null | 'large')[]>;
  /** Newest id first, unless the filter says otherwise. */
  list(kind: string, tenant: string, filter: EntryFilter): Promise<Entry[]>;
  /** By index value and id, ascending. */
  range(kind: string, tenant: string, range: IndexRange): Promise<IndexedEntry[]>;
  count(kind: string, tenant: string): Promise<number>;
  /** The sum of the `adjust` writes. */
  counter(key: EntryKey): Promise<number>;
  /** Counters whose id starts with a prefix, by id, after the given id. */
  counters(kind: string, tenant: string, range: CounterRange): Promise<Counter[]>;
  /** Host-wide: entries with `dueAt <= now`, earliest first, after the last entry of the previous page. */
  due(kind: string, now: number, limit: number, after?: Entry): Promise<Entry[]>;
  /** Host-wide. */
  nextDueAt(kind: string): Promise<number | null>;
  /** Host-wide: all entries of a kind, by tenant and id, after the given key. */
  all(kind: string, after: EntryKey | null, limit: number): Promise<Entry[]>;
}
