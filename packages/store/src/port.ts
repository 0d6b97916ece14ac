/**
 * The durable port. Everything that writes is a commit group; a batch of groups goes to disk in one
 * synced transaction.
 *
 * I1  A group wins or loses as one; a losing group leaves nothing and harms no other group.
 * I2  A run's events are dense from 0: an append wins only at `expectedSeq` (the next free sequence).
 * I3  When `commit` resolves, everything that won survives power loss.
 *     When it rejects, `StoreError.outcome` says whether nothing was applied or whether that is unknown.
 * I4  Every read names the tenant, or is one of the host-wide reads marked so.
 */
import type { RunStatus, StoredEvent } from '@gantry/protocol';
import type { EntryKey, EntryReads, FeedNote, FeedReads, NewEntry } from './port-entries.ts';

export * from './port-entries.ts';

/** Facts fixed when a run is created. `request` and `trace` are JSON text. */
export interface RunFacts {
  readonly runId: string;
  readonly tenant: string;
  readonly workspace: string | null;
  readonly principal: string | null;
  readonly workflowId: string;
  /** Content hash of the definition the run is pinned to. */
  readonly workflowHash: string;
  readonly scopeId: string | null;
  readonly createdAt: number;
  /** `{inputs, configurable, tags, metadata, ...}` as the host accepted them. */
  readonly request: string;
}

/** The part of the run row that appends change. */
export interface RunHead {
  readonly status: RunStatus;
  /** Lease epoch of the process that is working on it; null when it waits or is done. */
  readonly owner: number | null;
  /** When the run next has something to do by itself; null if never. */
  readonly wakeAt: number | null;
  readonly endedAt: number | null;
}

export interface RunRow extends RunFacts, RunHead {
  /** The next free sequence; the log holds 0 .. nextSeq - 1. */
  readonly nextSeq: number;
}

/** Folded state after `nextSeq` events, as JSON text. */
export interface RunSnapshotRecord {
  readonly nextSeq: number;
  readonly state: string;
}

export interface IdempotencyRecord {
  readonly tenant: string;
  /** For example `POST /v1/runs`. */
  readonly operation: string;
  readonly key: string;
  readonly digest: string;
  readonly status: number;
  readonly body: string;
  readonly expiresAt: number;
}

/** Layer 2 of idempotency: one logical call out of a node. */
export interface InvocationRecord {
  readonly invocationId: string;
  readonly tenant: string;
  readonly runId: string;
  readonly nodeId: string;
  /** JSON text of the outcome; null while claimed but not settled. */
  readonly outcome: string | null;
  readonly claimedAt: number;
  /** Random, then what it was claimed with: recognises a claim of one's own whose outcome was unknown. Null when recorded already settled. */
  readonly claimId: string | null;
  /** The outcome has events that are not in the log of the run yet. */
  readonly eventsPending: boolean;
}

export interface WorkflowRecord {
  /** `*` for definitions that every tenant sees (loaded from the workflows folder). */
  readonly tenant: string;
  readonly workflowId: string;
  readonly hash: string;
  readonly version: string;
  readonly name: string;
  readonly registeredAt: number;
}

export interface KeyRecord {
  readonly keyId: string;
  readonly tenant: string;
  readonly name: string;
  /** SHA-256 of the key, hex. */
  readonly hash: string;
  readonly scopes: readonly string[];
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
}

export type Write =
  /** Loses with `exists` when the id is taken. Events start at 0. */
  | { kind: 'createRun'; facts: RunFacts; head: RunHead; events: readonly StoredEvent[] }
  /** Loses with `stale` unless the run's next free sequence is `expectedSeq` and its owner is `expectedOwner`. */
  | {
      kind: 'append';
      tenant: string;
      runId: string;
      expectedSeq: number;
      expectedOwner: number | null;
      events: readonly StoredEvent[];
      head: RunHead;
      snapshot?: RunSnapshotRecord;
    }
  /** Loses with `exists` while an unexpired record has the same tenant, operation and key. `now` judges expiry. */
  | { kind: 'idempotency'; record: IdempotencyRecord; now: number }
  /** Loses with `exists` when the id was claimed before. */
  | { kind: 'claimInvocation'; record: InvocationRecord }
  /** Loses with `stale` unless claimed and not settled. */
  | {
      kind: 'settleInvocation';
      tenant: string;
      invocationId: string;
      outcome: string;
      /** The outcome has events that are not in the log of the run yet. */
      eventsPending?: true;
    }
  /** The pending events of a record are in this commit. Loses with `stale` unless they are pending. */
  | { kind: 'tellInvocation'; tenant: string; invocationId: string }
  /** Keeps the first body of a hash. `hash` is the content hash of `body`. */
  | { kind: 'putDefinition'; hash: string; body: string }
  /** Keeps the first bytes of a hash. */
  | { kind: 'putContent'; hash: string; bytes: Uint8Array }
  | { kind: 'deleteContent'; hash: string }
  /** Becomes the current version of its id; earlier ones stay listed. */
  | { kind: 'putWorkflow'; record: WorkflowRecord }
  /** All versions of the id; definitions stay, since runs are pinned to them. */
  | { kind: 'deleteWorkflow'; tenant: string; workflowId: string }
  /** Inserts or replaces by `keyId`. */
  | { kind: 'putKey'; record: KeyRecord }
  /**
   * With null: loses with `exists` when the key is taken, and with `full` when its kind and tenant have `max` entries.
   * Else loses with `stale` unless at that version. Loses with `exists` when another entry has a unique index value.
   */
  | {
      kind: 'putEntry';
      entry: NewEntry;
      expectedVersion: number | null;
      /** Of a new entry. One that grows keeps a version of an earlier entry of the same id from coming again. */
      firstVersion?: number;
      max?: number;
      feed?: FeedNote;
    }
  /** Loses with `stale` unless the entry is there at that version. */
  | { kind: 'deleteEntry'; key: EntryKey; expectedVersion: number; feed?: FeedNote }
  /** Writes nothing. Loses with `stale` unless the entry is at that version; null: unless it is absent. */
  | { kind: 'expectEntry'; key: EntryKey; version: number | null }
  /** Writes nothing. Loses with `stale` unless that lease has not ended. */
  | { kind: 'expectLease'; epoch: number; now: number }
  /**
   * Adds to a counter, which is 0 at first, or to `floor` when it is below that. Loses with `full` when a positive
   * `delta` would lift it above `max`.
   */
  | {
      kind: 'adjust';
      key: EntryKey;
      delta: number;
      max?: number;
      floor?: number;
      /** Of a new counter: it is deleted with this run, */
      runId?: string;
      /** or by the retention sweep after this time. */
      expiresAt?: number;
    };

export type CommitGroup = readonly Write[];
export type LossReason = 'stale' | 'exists' | 'full';
export type CommitResult =
  /** `values`: what the counters of the group's `adjust` writes hold after each, if it has such. */
  { won: true; values?: readonly number[] } | { won: false; write: number; reason: LossReason };

export interface LoadedRun {
  readonly row: RunRow;
  readonly snapshot: RunSnapshotRecord | null;
  /** The events after the snapshot. */
  readonly tail: readonly StoredEvent[];
}

export interface RunFilter {
  readonly status?: RunStatus;
  readonly workflowId?: string;
  /** Runs created before this run id (ids sort by time): the cursor of the list. */
  readonly beforeRunId?: string;
  readonly limit: number;
}

export interface RunReads {
  row(tenant: string, runId: string): Promise<RunRow | null>;
  load(tenant: string, runId: string): Promise<LoadedRun | null>;
  /**
   * Events with `sequence >= fromSequence`, in order, at most `limit`, and as many as fit into `bytesMax` together;
   * the first one always does.
   */
  events(
    tenant: string,
    runId: string,
    fromSequence: number,
    limit: number,
    bytesMax?: number,
  ): Promise<StoredEvent[]>;
  list(tenant: string, filter: RunFilter): Promise<RunRow[]>;
  /** A run of this tenant and scope that has not ended, for `X-Dedup`. */
  activeInScope(tenant: string, scopeId: string): Promise<string | null>;
  /** Host-wide: the highest run id. */
  highestId(): Promise<string | null>;
}

export interface RecordReads {
  idempotency(tenant: string, operation: string, key: string): Promise<IdempotencyRecord | null>;
  invocation(tenant: string, invocationId: string): Promise<InvocationRecord | null>;
  /** Claims of a run that are not settled, by their time. */
  openClaims(tenant: string, runId: string, limit: number): Promise<InvocationRecord[]>;
  definition(hash: string): Promise<string | null>;
  content(hash: string): Promise<Uint8Array | null>;
  /** Host-wide: the hashes of the definitions that runs are pinned to. Reads every run; for sweeps. */
  pinnedHashes(): Promise<string[]>;
  /** The tenant's own current version, else the shared one. */
  workflow(tenant: string, workflowId: string): Promise<WorkflowRecord | null>;
  /** Current versions, own and shared, by id. */
  workflows(tenant: string): Promise<WorkflowRecord[]>;
  /** Every version of one id, newest first. */
  workflowVersions(tenant: string, workflowId: string): Promise<WorkflowRecord[]>;
  keys(tenant: string): Promise<KeyRecord[]>;
  /** Host-wide: authentication happens before a tenant is known. */
  keyByHash(hash: string): Promise<KeyRecord | null>;
}

/** What another process committed. */
export interface StoreChange {
  /** Runs that got events. */
  readonly runs: readonly RunKey[];
  /** Kinds of entries that were put or deleted. */
  readonly kinds: readonly string[];
  /** Set, with the lists empty, when changes may have gone unheard (a lost connection): look at everything. */
  readonly missed?: true;
}

/** Which process may work on which run. Host-wide. */
export interface Leases {
  /** Takes a new lease; epochs only grow. */
  acquire(processId: string, now: number, ttlMs: number): Promise<number>;
  /** False when there is no such lease any more: stop at once. */
  renew(epoch: number, now: number, ttlMs: number): Promise<boolean>;
  release(epoch: number): Promise<void>;
  /** Claims for `epoch` up to `limit` runs that are due (`wakeAt <= now`) and unowned. */
  claimDue(epoch: number, now: number, limit: number): Promise<RunKey[]>;
  /** Claims for `epoch` up to `limit` runs whose owner's lease has ended. */
  claimOrphans(epoch: number, now: number, limit: number): Promise<RunKey[]>;
  /** Runs that `epoch` owns, by run id, after the given one. */
  owned(epoch: number, limit: number, afterRunId?: string): Promise<RunKey[]>;
  /** The earliest `wakeAt` of unowned runs. */
  nextWakeAt(): Promise<number | null>;
}

export interface RunKey {
  readonly tenant: string;
  readonly runId: string;
}

export interface RetentionSweep {
  /** Deletes up to `limit` runs that ended before `endedBefore`, with all that hangs on them. Answers how many. */
  deleteEnded(endedBefore: number, limit: number): Promise<number>;
  /** Deletes one run that has ended, with all that hangs on it. False when the tenant has no such run. */
  deleteRun(tenant: string, runId: string): Promise<boolean>;
  /**
   * Deletes expired idempotency records, entries and feed rows, and invocations claimed before `invocationsBefore`: up
   * to `limit` of each. Answers how many in all; none when there is nothing left.
   */
  deleteExpired(now: number, invocationsBefore: number, limit: number): Promise<number>;
}

export interface Store {
  /** The time by which processes that share this store judge leases and due times; absent where there is but one. */
  readonly now?: () => number;
  /** How many processes have a lease, this one among them; absent where there is but one. */
  readonly processes?: () => Promise<number>;
  /**
   * A commit whose answer was lost is looked up before this settles. When that takes too long it rejects with a
   * `StoreError` of outcome `unknown`: all of it, or nothing, may be there.
   */
  commit(groups: readonly CommitGroup[]): Promise<CommitResult[]>;
  readonly runs: RunReads;
  readonly records: RecordReads;
  readonly entries: EntryReads;
  readonly feed: FeedReads;
  /**
   * Calls when another process has committed, and with `missed` when a commit of this process that had an unknown
   * outcome has come to an end. A store that no other process shares never calls.
   */
  watch(listener: (change: StoreChange) => void): Promise<() => Promise<void>>;
  readonly leases: Leases;
  readonly retention: RetentionSweep;
  close(): Promise<void>;
}
