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

/** How work that left the process came back. */
export type Outcome = Ending & {
  /** What it emitted while the run was paused: it takes effect together with the ending. */
  readonly untold?: readonly EmittedEvent[];
  /** What it follows from, when that is not an event of this run: all events of the ending say so. */
  readonly cause?: Cause;
};

export type Cause = Pick<EmittedEvent, 'causationId' | 'contentTrust'>;

type Ending =
  | EffectOutcome
  /** Pack code asks something, and is called again with the answer. */
  | { readonly suspend: PackSuspension }
  /** Pack code calls a workflow, and is called again with how the child ended. */
  | { readonly call: WorkflowCall }
  /** Nothing is left to spend: the run ends, or someone is asked. */
  | { readonly exhausted: Exhaustion }
  /** Pack code ends the whole run, whatever edges would handle its failure. */
  | { readonly terminate: RunError };

export type DrainPolicy = 'immediate' | 'drain-current-node';

/** Time arrives as `now`, in milliseconds since the epoch. */
export type Command =
  | { readonly type: 'start'; readonly now: number }
  /** Runs what is ready, at most about `maxEvents` events of it. */
  | { readonly type: 'advance'; readonly now: number; readonly maxEvents: number }
  /** Something due: a delay, a retry, a time limit. Then advances. */
  | {
      readonly type: 'wake';
      readonly now: number;
      readonly maxEvents: number;
      /** Ends what is under way and starts nothing: the run is about to pause. */
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
  /** What work under way emitted; committed before its settlement. */
  | {
      readonly type: 'emit';
      readonly now: number;
      readonly nodeId: string;
      readonly attempt: number;
      readonly visit: number;
      readonly events: readonly EmittedEvent[];
    }
  /** Someone answers an open interrupt of a node. */
  | {
      readonly type: 'resolve';
      readonly now: number;
      readonly nodeId: string;
      /** Given when the answer is meant for this interrupt and no later one of the node. */
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
  /** Code outside the process asks which version of a change this run follows. */
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
      /** Only when the cancellation comes down from the parent. */
      readonly parentRunId?: string;
    }
  | {
      readonly type: 'pause';
      readonly now: number;
      readonly reason?: string;
      readonly drainPolicy: DrainPolicy;
    }
  | { readonly type: 'resume'; readonly now: number; readonly reason?: string };
