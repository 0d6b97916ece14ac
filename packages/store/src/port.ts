/**
 * The storage port. Every write belongs to a commit group. A batch of groups is one synced transaction.
 *
 * I1  A group wins or loses as a whole. A losing group writes nothing and does not affect other groups.
 * I2  A run's events are dense from 0: an append wins only at `expectedSeq` (the next free sequence).
 * I3  When `commit` resolves, everything that won survives power loss. When it rejects, nothing of its batch was
 *     written, or `StoreError.outcome` is `unknown`; other batches are not affected. `CommitPipeline` commits a batch
 *     that was rejected again in parts, so that a group which cannot be written fails alone.
 * I4  Every read names the tenant, or is marked host-wide.
 */
import type { RunStatus, StoredEvent } from '@gantry/protocol';
import type { EntryKey, EntryReads, FeedNote, FeedReads, NewEntry } from './port-entries.ts';

export * from './port-entries.ts';

/** Facts that are fixed when a run is created. `request` and `trace` are JSON text. */
export interface RunFacts {
  readonly runId: string;
  readonly tenant: string;
  readonly workspace: string | null;
  readonly principal: string | null;
  readonly workflowId: string;
  /** Content hash of the definition that the run is pinned to. */
  readonly workflowHash: string;
  readonly scopeId: string | null;
  readonly createdAt: number;
  /** `{inputs, configurable, tags, metadata, ...}` as the host accepted them. */
  readonly request: string;
}

/** The part of the run row that appends change. */
export interface RunHead {
  readonly status: RunStatus;
  /** Lease epoch of the process that works on the run; null while the run waits or has ended. */
  readonly owner: number | null;
  /** The next time at which the run has scheduled work; null if it has none. */
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

/** The second layer of idempotency: one logical call by a node. */
export interface InvocationRecord {
  readonly invocationId: string;
  readonly tenant: string;
  readonly runId: string;
  readonly nodeId: string;
  /** JSON text of the outcome; null while claimed but not settled. */
  readonly outcome: string | null;
  readonly claimedAt: number;
  /**
   * A random id, followed by the facts of the claim. It identifies the own claim after an unknown outcome. Null if
   * the record was settled when created.
   */
  readonly claimId: string | null;
  /** The outcome has events that are not in the log of the run yet. */
  readonly eventsPending: boolean;
}

export interface WorkflowRecord {
  /** `*` for definitions that all tenants see (loaded from the workflows folder). */
  readonly tenant: string;
  readonly workflowId: string;
  readonly hash: string;
  readonly version: string;
  readonly name: string;
  readonly registeredAt: number;
  /** JSON text: who registered it, with which rights. Null for the host itself. */
  readonly registeredBy: string | null;
}

export interface KeyRecord {
  readonly keyId: string;
  readonly tenant: string;
  /** Of what is made with the key, such as its runs. */
  readonly workspace: string;
  /** Whoever acts with the key. A rotation keeps it. */
  readonly principal: string;
  readonly name: string;
  /** SHA-256 of the key, hex. */
  readonly hash: string;
  readonly scopes: readonly string[];
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
}

export type Write =
  /** Loses with `exists` if the id is taken. Events start at 0. */
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
  /** Loses with `exists` while an unexpired record has the same tenant, operation and key. Expiry is at `now`. */
  | { kind: 'idempotency'; record: IdempotencyRecord; now: number }
  /** Loses with `exists` if the id was claimed before. */
  | { kind: 'claimInvocation'; record: InvocationRecord }
  /** Loses with `stale` unless it is claimed and not settled. */
  | {
      kind: 'settleInvocation';
      tenant: string;
      invocationId: string;
      outcome: string;
      /** The outcome has events that are not in the log of the run yet. */
      eventsPending?: true;
    }
  /** This commit writes the pending events of the record. Loses with `stale` unless they are pending. */
  | { kind: 'tellInvocation'; tenant: string; invocationId: string }
  /** Keeps the first body for a hash. `hash` is the content hash of `body`. */
  | { kind: 'putDefinition'; hash: string; body: string }
  /** Keeps the first bytes for a hash. */
  | { kind: 'putContent'; hash: string; bytes: Uint8Array }
  | { kind: 'deleteContent'; hash: string }
  /** Becomes the current version of its id. Earlier versions stay listed. */
  | { kind: 'putWorkflow'; record: WorkflowRecord }
  /** Deletes all versions of the id. Definitions stay, since runs are pinned to them. */
  | { kind: 'deleteWorkflow'; tenant: string; workflowId: string }
  /** Inserts or replaces by `keyId`. */
  | { kind: 'putKey'; record: KeyRecord }
  /**
   * Without a version (null): loses with `exists` if the key is taken, and with `full` if its kind and tenant have
   * `max` entries. With a version: loses with `stale` unless the entry has it. Loses with `exists` if another entry
   * has one of the unique index values.
   */
  | {
      kind: 'putEntry';
      entry: NewEntry;
      expectedVersion: number | null;
      /** The version of a new entry. If it grows, versions of an earlier entry with the same id never recur. */
      firstVersion?: number;
      max?: number;
      feed?: FeedNote;
    }
  /** Loses with `stale` unless the entry exists at that version. */
  | { kind: 'deleteEntry'; key: EntryKey; expectedVersion: number; feed?: FeedNote }
  /** Writes nothing. Loses with `stale` unless the entry has that version, or, with null, is absent. */
  | { kind: 'expectEntry'; key: EntryKey; version: number | null }
  /** Writes nothing. Loses with `stale` if the lease has ended. */
  | { kind: 'expectLease'; epoch: number; now: number }
  /**
   * Adds to a counter, which starts at 0, or to `floor` if the counter is below it. Loses with `full` if a positive
   * `delta` would raise the counter above `max`. A counter never leaves the safe integers.
   */
  | {
      kind: 'adjust';
      key: EntryKey;
      delta: number;
      max?: number;
      floor?: number;
      /** A new counter is deleted with this run, */
      runId?: string;
      /** or by the retention sweep after this time. */
      expiresAt?: number;
    };

export type CommitGroup = readonly Write[];
export type LossReason = 'stale' | 'exists' | 'full';
export type CommitResult =
  /** `values`: the value of each counter after the `adjust` writes of the group, if it has any. */
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
  /** Events with `sequence >= fromSequence`, in order: at most `limit` and `bytesMax`, but at least one. */
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
  /** Host-wide. */
  highestId(): Promise<string | null>;
}

export interface RecordReads {
  idempotency(tenant: string, operation: string, key: string): Promise<IdempotencyRecord | null>;
  invocation(tenant: string, invocationId: string): Promise<InvocationRecord | null>;
  /** Unsettled claims of a run, by time. */
  openClaims(tenant: string, runId: string, limit: number): Promise<InvocationRecord[]>;
  definition(hash: string): Promise<string | null>;
  content(hash: string): Promise<Uint8Array | null>;
  /** Host-wide: the hashes of all definitions that runs are pinned to. Reads every run, so it is for sweeps only. */
  pinnedHashes(): Promise<string[]>;
  /** The tenant's own current version, or else the shared one. */
  workflow(tenant: string, workflowId: string): Promise<WorkflowRecord | null>;
  /** Current versions, own and shared, by id. */
  workflows(tenant: string): Promise<WorkflowRecord[]>;
  /** Every version of one id, newest first. */
  workflowVersions(tenant: string, workflowId: string): Promise<WorkflowRecord[]>;
  keys(tenant: string): Promise<KeyRecord[]>;
  /** Host-wide: authentication happens before a tenant is known. */
  keyByHash(hash: string): Promise<KeyRecord | null>;
}

/** No kind of entry has this name. */
export const KEYS_CHANGED = '$keys';

/** The changes of another process's commits. */
export interface StoreChange {
  /** Runs with new events. */
  readonly runs: readonly RunKey[];
  /** Kinds of entries that were put or deleted; `KEYS_CHANGED` for keys. */
  readonly kinds: readonly string[];
  /** Set, with empty lists, if changes may have been missed (lost connection): check everything. */
  readonly missed?: true;
}

/** Which process may work on which run. Host-wide. */
export interface Leases {
  /** Creates a lease. Epochs only grow. */
  acquire(processId: string, now: number, ttlMs: number): Promise<number>;
  /** False if the lease no longer exists: the process must stop its work. */
  renew(epoch: number, now: number, ttlMs: number): Promise<boolean>;
  release(epoch: number): Promise<void>;
  /** Claims for `epoch` up to `limit` runs that are due (`wakeAt <= now`) and unowned. */
  claimDue(epoch: number, now: number, limit: number): Promise<RunKey[]>;
  /** Claims for `epoch` up to `limit` runs whose owner's lease has ended. */
  claimOrphans(epoch: number, now: number, limit: number): Promise<RunKey[]>;
  /** Runs that `epoch` owns, by run id, after the given id. */
  owned(epoch: number, limit: number, afterRunId?: string): Promise<RunKey[]>;
  /** The earliest `wakeAt` of unowned runs. */
  nextWakeAt(): Promise<number | null>;
}

export interface RunKey {
  readonly tenant: string;
  readonly runId: string;
}

export interface RetentionSweep {
  /**
   * Deletes up to `limit` runs that ended before `endedBefore`, with all their records; fewer if commits would wait for
   * it. Returns the number; 0 when nothing is left.
   */
  deleteEnded(endedBefore: number, limit: number): Promise<number>;
  /** Deletes an ended run with all its records. False if the tenant has no such run. */
  deleteRun(tenant: string, runId: string): Promise<boolean>;
  /**
   * Deletes expired idempotency records, entries and feed rows, and invocations claimed before `invocationsBefore`:
   * up to `limit` of each. Returns the total; 0 when nothing is left.
   */
  deleteExpired(now: number, invocationsBefore: number, limit: number): Promise<number>;
}

export interface Store {
  /** The clock for leases and due times that all processes of this store share. Absent for a single process. */
  readonly now?: () => number;
  /** The number of processes with a lease, including this one. Absent for a single process. */
  readonly processes?: () => Promise<number>;
  /**
   * A commit whose answer was lost is looked up before this settles. If that takes too long, it rejects with a
   * `StoreError` of outcome `unknown`: either all of it was applied or nothing.
   */
  commit(groups: readonly CommitGroup[]): Promise<CommitResult[]>;
  readonly runs: RunReads;
  readonly records: RecordReads;
  readonly entries: EntryReads;
  readonly feed: FeedReads;
  /**
   * Calls `listener` after commits of other processes, and with `missed` once the unknown outcome of a commit of
   * this process is settled. A store with a single process never calls it.
   */
  watch(listener: (change: StoreChange) => void): Promise<() => Promise<void>>;
  readonly leases: Leases;
  readonly retention: RetentionSweep;
  close(): Promise<void>;
}
