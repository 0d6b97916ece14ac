/** The interface of the runtime to the API. */
import type { Command, Decision, DefinitionWarning, Plan, Refusal, Run, RunFacts } from '@gantry/engine';
import type {
  JsonObject,
  RunEvent,
  RunOwner,
  RunSnapshot,
  RunStatus,
  StoredEvent,
  WorkflowDefinition,
} from '@gantry/protocol';
import type { StartingRun } from '@gantry/resources';
import type { IdempotencyRecord, RunKey, WorkflowRecord, Write } from '@gantry/store';
import type { Issue } from '../workflows/refusal.ts';
import type { Registrant } from '../workflows/registrant.ts';
import type { CommandRecord } from './command-answer.ts';

export interface ResolvedWorkflow {
  readonly record: WorkflowRecord;
  readonly definition: WorkflowDefinition;
  readonly plan: Plan;
}

export interface NewRun {
  readonly owner: RunOwner;
  readonly workflow: ResolvedWorkflow;
  readonly scopeId?: string;
  readonly inputs: JsonObject;
  readonly configurable: JsonObject;
  readonly tags: readonly string[];
  readonly metadata: JsonObject;
  /** W3C `traceparent` the run belongs to. */
  readonly traceparent?: string;
  /** Id of the tick that starts the run. */
  readonly causationId?: string;
  /** The delivery that starts the run. */
  readonly delivery?: NonNullable<RunFacts['delivery']>;
  readonly triggerData?: JsonObject;
  readonly contentTrust?: 'untrusted';
  readonly rootRunId?: string;
  /** Its budget stops nothing, even if the host enforces others. */
  readonly advisoryBudget?: true;
}

/** A run that was decided elsewhere, for instance as a fork: all its events so far. */
export interface PreparedRun {
  readonly plan: Plan;
  readonly run: Run;
  readonly events: readonly RunEvent[];
  /** Stored with the events. A replay has none: those of its source are read. */
  readonly artifacts?: Decision['artifacts'];
}

/** Deliveries of a run's events to subscribers, written in the same commit as the events. */
export interface Outbox {
  writes(facts: RunFacts, events: readonly StoredEvent[]): readonly Write[];
  /** Such writes are on disk. */
  committed(): void;
}

/** Written in the same commit as the effect it answers for, so a retry never acts twice. */
export type IdempotencyFor<T> = (answer: T, status: RunStatus) => IdempotencyRecord;

export interface CreateOptions {
  readonly idempotency?: IdempotencyFor<Run>;
  /** Written in the commit that creates the run: both or neither. */
  readonly writes?: (run: Run) => readonly Write[];
  /** Commits the writes of the run as part of a change; false when that lost. */
  readonly commit?: (writes: readonly Write[], run: Run) => Promise<boolean>;
}

export type CreateResult =
  | { readonly kind: 'created'; readonly runId: string; readonly run: Run }
  /** The idempotency key was used before, or one of the writes lost: nothing was created. */
  | { readonly kind: 'duplicate' };

type OutsideCommand = Extract<
  Command,
  { type: 'cancel' | 'pause' | 'resume' | 'resolve' | 'writeChannel' | 'setVariables' | 'registerArtifact' }
>;
type Untimed<T> = T extends { readonly now: number } ? Omit<T, 'now'> : never;

/** A command from outside; the runtime adds the time. */
export type RunCommand = Untimed<OutsideCommand>;

export type CommandResult =
  /** `body`: the answer as it was recorded, if the command came with a record. */
  | { readonly kind: 'done'; readonly run: Run; readonly status: RunStatus; readonly body?: string }
  /** The run's state does not allow it. */
  | {
      readonly kind: 'refused';
      readonly run: Run;
      readonly status: RunStatus;
      readonly refusal?: Refusal;
    }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'duplicate' };

export interface ReadRun {
  readonly run: Run;
  readonly plan: Plan;
  /** Masked; the answer of `GET /v1/runs/{runId}`. */
  readonly snapshot: RunSnapshot;
}

export interface Runtime {
  /** Throws `service_unavailable` at the in-flight cap. */
  create(newRun: NewRun, options?: CreateOptions): Promise<CreateResult>;
  /** A run that begins with a change (`change.start`). Throws `service_unavailable` at the in-flight cap. */
  prepare(run: NewRun | PreparedRun): Promise<StartingRun>;
  /** Commits a prepared run as a whole and continues it. */
  adopt(prepared: PreparedRun, options?: CreateOptions): Promise<CreateResult>;
  /** With `record`, the idempotency record is in the commit of the effect, whichever process executes it. */
  command(key: RunKey, command: RunCommand, record?: CommandRecord): Promise<CommandResult>;
  /** The run as committed. Null when this tenant has no such run. */
  read(key: RunKey): Promise<ReadRun | null>;
  /** Called with each batch of committed events of one run, in order. Returns a function that unsubscribes. */
  subscribe(key: RunKey, listener: (events: readonly StoredEvent[]) => void): () => void;
  /** Runs being worked on right now. */
  readonly inflight: number;
}

export interface Workflows {
  /** The plan of a definition that a run is pinned to. */
  planOf(workflowHash: string): Promise<Plan>;
  /** The tenant's own current version, else the shared one. */
  resolve(tenant: string, workflowId: string): Promise<ResolvedWorkflow | null>;
  /** Throws `forbidden` if a run of this owner that nobody asks for must not use the definition. */
  checkActing(owner: RunOwner, record: WorkflowRecord): Promise<void>;
  /**
   * Validates, stores and makes current. Throws `validation_error` or `capability_required`. Without `replace`, other
   * content under a registered version is a `conflict`, and a lower version than the current one is only kept.
   */
  register(tenant: string, definition: unknown, terms?: RegistrationTerms): Promise<RegisteredWorkflow>;
  /** All reasons why it would not be registered, and probable mistakes. */
  check(tenant: string, definition: unknown): Promise<Checked>;
  /**
   * Deletes all versions, and all that their triggers have created. Throws `not_found`, and `conflict` while runs of
   * the workflow are active.
   */
  remove(tenant: string, workflowId: string, mayRemoveShared: boolean): Promise<void>;
  /** Registers all or none of them. */
  registerAll(
    tenant: string,
    definitions: readonly unknown[],
    terms?: RegistrationTerms,
  ): Promise<RegisteredWorkflow[]>;
}

export interface Checked extends Pick<RegisteredWorkflow, 'warnings'> {
  /** Without unreadable parts; null if too little is left. */
  readonly definition: WorkflowDefinition | null;
  readonly issues: readonly Issue[];
}

export interface RegistrationTerms {
  readonly replace: boolean;
  /** Absent for the host itself. */
  readonly by?: Registrant;
}

export interface RegisteredWorkflow extends WorkflowRecord {
  readonly isCurrent: boolean;
  /** The whole form of what was given. */
  readonly definition: WorkflowDefinition;
  /** Probable mistakes. */
  readonly warnings: readonly DefinitionWarning[];
}
