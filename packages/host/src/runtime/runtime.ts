/** What the API sees of the runtime. */
import type { Plan, Run } from '@gantry/engine';
import type { JsonObject, Owner, RunSnapshot, StoredEvent, WorkflowDefinition } from '@gantry/protocol';
import type { IdempotencyRecord, RunKey, WorkflowRecord } from '@gantry/store';

export interface ResolvedWorkflow {
  readonly record: WorkflowRecord;
  readonly definition: WorkflowDefinition;
  readonly plan: Plan;
}

export interface NewRun {
  readonly owner: Owner;
  readonly workflow: ResolvedWorkflow;
  readonly scopeId?: string;
  readonly inputs: JsonObject;
  readonly configurable: JsonObject;
  readonly tags: readonly string[];
  readonly metadata: JsonObject;
  /** W3C `traceparent` the run belongs to. */
  readonly traceparent?: string;
}

/** Written in the same commit as what it answers for, so a retry never acts twice. */
export type IdempotencyFor<T> = (answer: T) => IdempotencyRecord;

export type CreateResult =
  | { readonly kind: 'created'; readonly runId: string; readonly run: Run }
  /** The idempotency key was used before (by this or another process). */
  | { readonly kind: 'duplicate' };

export type RunCommand =
  | { readonly type: 'cancel'; readonly reason?: string; readonly by?: string }
  | {
      readonly type: 'pause';
      readonly reason?: string;
      readonly drainPolicy: 'immediate' | 'drain-current-node';
    }
  | { readonly type: 'resume'; readonly reason?: string };

export type CommandResult =
  | { readonly kind: 'done'; readonly run: Run }
  /** The run's status does not allow it; nothing was written. */
  | { readonly kind: 'refused'; readonly run: Run }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'duplicate' };

export interface ReadRun {
  readonly run: Run;
  readonly plan: Plan;
  /** Masked; what `GET /v1/runs/{runId}` answers. */
  readonly snapshot: RunSnapshot;
}

export interface Runtime {
  /** Throws `service_unavailable` at the in-flight cap. */
  create(newRun: NewRun, idempotency?: IdempotencyFor<Run>): Promise<CreateResult>;
  command(key: RunKey, command: RunCommand, idempotency?: IdempotencyFor<Run>): Promise<CommandResult>;
  /** The run as committed. Null when this tenant has no such run. */
  read(key: RunKey): Promise<ReadRun | null>;
  /** Called with each batch of committed events of one run, in order. Answers how to stop. */
  subscribe(runId: string, listener: (events: readonly StoredEvent[]) => void): () => void;
  /** Runs being worked on right now. */
  readonly inflight: number;
  readonly inflightCap: number;
}

export interface Workflows {
  /** The tenant's own current version, else the shared one. */
  resolve(tenant: string, workflowId: string): Promise<ResolvedWorkflow | null>;
  /** Validates, stores and makes current. Throws `validation_error` or `capability_required`. */
  register(tenant: string, definition: unknown): Promise<WorkflowRecord>;
}
