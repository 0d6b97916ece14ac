import type { EmittedEvent, Json, JsonObject, RunError } from '@gantry/protocol';
import type { EditedArtifact } from './artifacts/artifact.ts';
import type { Exhaustion } from './budget/budget.ts';
import type { ChildReport, ChildStart, WorkflowCall } from './children/child.ts';
import type { Resolver } from './interrupt/interrupt.ts';
import type { PackSuspension } from './interrupt/pack-interrupt.ts';

/** How an effect ended. */
export type EffectOutcome =
  | { readonly ok: true; readonly outputs: JsonObject; readonly variables?: JsonObject }
  | { readonly ok: false; readonly error: RunError; readonly retryable: boolean };

/** How work outside the process ended. */
export type Outcome = Ending & {
  /** Events that it emitted while the run was paused: they take effect together with the ending. */
  readonly untold?: readonly EmittedEvent[];
  /** The cause, when it is not an event of this run. It is set on all events of the ending. */
  readonly cause?: Cause;
};

export type Cause = Pick<EmittedEvent, 'causationId' | 'contentTrust'>;

type Ending =
  | EffectOutcome
  /** Pack code opens an interrupt, and is called again with the answer. */
  | { readonly suspend: PackSuspension }
  /** Pack code calls a workflow, and is called again with the outcome of the child. */
  | { readonly call: WorkflowCall }
  /** The budget is exhausted: the run ends, or requests an approval. */
  | { readonly exhausted: Exhaustion }
  /** Pack code ends the whole run, even if edges would handle its failure. */
  | { readonly terminate: RunError };

export type DrainPolicy = 'immediate' | 'drain-current-node';

/** The current time is passed as `now`, in milliseconds since the epoch. */
export type Command =
  | { readonly type: 'start'; readonly now: number }
  /** Runs ready nodes, up to about `maxEvents` events. */
  | { readonly type: 'advance'; readonly now: number; readonly maxEvents: number }
  /** Handles what is due: a delay, a retry, a time limit. Then advances. */
  | {
      readonly type: 'wake';
      readonly now: number;
      readonly maxEvents: number;
      /** Only ends running nodes and starts nothing: the run is about to pause. */
      readonly onlyEnds?: true;
    }
  | {
      readonly type: 'settle';
      readonly now: number;
      readonly nodeId: string;
      readonly attempt: number;
      readonly visit: number;
      readonly outcome: Outcome;
    }
  /** Events that running work emitted; committed before its settlement. */
  | {
      readonly type: 'emit';
      readonly now: number;
      readonly nodeId: string;
      readonly attempt: number;
      readonly visit: number;
      readonly events: readonly EmittedEvent[];
    }
  /** Answers an open interrupt of a node. */
  | {
      readonly type: 'resolve';
      readonly now: number;
      readonly nodeId: string;
      /** Set when the answer is for this interrupt only, and not for a later one of the node. */
      readonly interruptId?: string;
      readonly resumeValue: Json;
      readonly by: Resolver;
    }
  /** The shell has prepared the children that `childRequests` listed; they are created in the same commit. */
  | {
      readonly type: 'childrenStarted';
      readonly now: number;
      readonly nodeId: string;
      readonly visit: number;
      readonly starts: readonly ChildStart[];
    }
  | {
      readonly type: 'childEnded';
      readonly now: number;
      readonly nodeId: string;
      readonly visit: number;
      readonly report: ChildReport;
    }
  /** Another run, or another engine, writes to a channel of this one. */
  | {
      readonly type: 'writeChannel';
      readonly now: number;
      readonly channel: string;
      readonly value: Json;
      readonly sourceRunId?: string;
      readonly sourceEngineId?: string;
      /** The writer descends from a channel-write trigger: see `isFromTrigger`. */
      readonly fromTrigger?: true;
    }
  /** Sets variables of the run from outside, as a node would. */
  | { readonly type: 'setVariables'; readonly now: number; readonly variables: JsonObject }
  /** Stores the artifact of a node, as it is or as it was edited. */
  | {
      readonly type: 'registerArtifact';
      readonly now: number;
      readonly nodeId: string;
      readonly by: string;
      readonly edited?: EditedArtifact;
    }
  /** Code outside the process requests the version of a change that this run follows. */
  | {
      readonly type: 'pinVersion';
      readonly now: number;
      readonly changeId: string;
      readonly min: number;
      readonly max: number;
    }
  | {
      readonly type: 'cancel';
      readonly now: number;
      readonly reason?: string;
      readonly by?: string;
      /** Set only when the parent cancels the run. */
      readonly parentRunId?: string;
    }
  | {
      readonly type: 'pause';
      readonly now: number;
      readonly reason?: string;
      readonly drainPolicy: DrainPolicy;
    }
  | { readonly type: 'resume'; readonly now: number; readonly reason?: string };
