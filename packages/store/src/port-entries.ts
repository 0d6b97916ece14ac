/** Entries, their index and their feed: the part of the port that is about them. */
export interface EntryKey {
  /** What it is: `mail`, `webhook`, `delivery`, `schedule`, ... */
  readonly kind: string;
  readonly tenant: string;
  readonly id: string;
}

/**
 * A small durable record with a version and, where it has something to do by itself, a due time. Mail between
 * runs, webhooks and their deliveries, schedules, heartbeats and triggers are entries.
 */
export interface Entry extends EntryKey {
  readonly workspace: string | null;
  /** What it hangs on: the run of a mail, the webhook of a delivery. */
  readonly ref: string | null;
  /** 1 when created; each put adds one. */
  readonly version: number;
  readonly dueAt: number | null;
  /** The retention sweep deletes it after this; null keeps it. */
  readonly expiresAt: number | null;
  readonly createdAt: number;
  /** JSON text. */
  readonly body: string;
}

/** A value by which an entry is found. Of a unique one there is one in its kind, tenant and name. */
export interface IndexValue {
  readonly name: string;
  readonly value: string;
  readonly unique?: true;
}

/** What a put writes. All of it replaces what was there, the index too. */
export interface NewEntry extends Omit<Entry, 'version' | 'workspace'> {
  readonly workspace?: string | null;
  /** Deleted with this run. */
  readonly runId?: string;
  readonly index?: readonly IndexValue[];
}

/** Puts a row about the change into the feed. */
export interface FeedNote {
  readonly actor: string | null;
  readonly at: number;
}

export interface FeedRow extends EntryKey, FeedNote {
  /** Grows; not dense. */
  readonly number: number;
  readonly workspace: string | null;
  /** Of a deletion the version that was deleted. */
  readonly version: number;
  readonly op: 'create' | 'update' | 'delete';
}

export interface EntryFilter {
  readonly ref?: string;
  /** Entries with this index value; not together with `ref`. */
  readonly index?: Pick<IndexValue, 'name' | 'value'>;
  /** Entries with a lower id (ids sort by time): the cursor of the list. */
  readonly beforeId?: string;
  /** Entries with a higher id: the cursor of a list that is oldest first. */
  readonly afterId?: string;
  readonly oldestFirst?: true;
  readonly limit: number;
  /** The page ends with the entry whose body takes it above so many bytes. */
  readonly bytesMax?: number;
}

/** Values of one index name: from `from`, before `to`; with `prefix` those that begin with it. */
export interface IndexRange {
  readonly name: string;
  readonly prefix?: string;
  readonly from?: string;
  readonly to?: string;
  /** The last one of the page before. */
  readonly after?: Pick<IndexedEntry, 'value' | 'id'>;
  readonly limit: number;
}

export interface IndexedEntry extends Entry {
  readonly value: string;
}

/** What became of entries whose writes had a `FeedNote`, in the order of their numbers. Kept for `FEED_KEPT_MS`. */
export interface FeedReads {
  /** Null when rows after the cursor are past their time: read what is there now, and go on from `last`. */
  after(cursor: number, options: { tenant: string; now: number; limit: number }): Promise<FeedPage | null>;
  /** The cursor behind everything that is committed. */
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
  /** In the order of the keys, all of one moment. */
  getMany(keys: readonly EntryKey[]): Promise<(Entry | null)[]>;
  /** The same, but for entries with a large body, which is not read. */
  getSmall(keys: readonly EntryKey[]): Promise<(Entry | null | 'large')[]>;
  /** Newest id first, unless the filter says otherwise. */
  list(kind: string, tenant: string, filter: EntryFilter): Promise<Entry[]>;
  /** By index value and id, ascending. */
  range(kind: string, tenant: string, range: IndexRange): Promise<IndexedEntry[]>;
  count(kind: string, tenant: string): Promise<number>;
  /** What `adjust` writes add up to. */
  counter(key: EntryKey): Promise<number>;
  /** Counters whose id begins so, by id, after the given one. */
  counters(kind: string, tenant: string, range: CounterRange): Promise<Counter[]>;
  /** Host-wide: entries with `dueAt <= now`, earliest first, after the given one of an earlier page. */
  due(kind: string, now: number, limit: number, after?: Entry): Promise<Entry[]>;
  /** Host-wide. */
  nextDueAt(kind: string): Promise<number | null>;
  /** Host-wide: every entry of a kind, by tenant and id, after the given one. */
  all(kind: string, after: EntryKey | null, limit: number): Promise<Entry[]>;
}
