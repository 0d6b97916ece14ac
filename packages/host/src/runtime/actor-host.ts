/** The services of the process that the actor of a run uses. */
import type { childRequests, Execution, Plan, Run } from '@gantry/engine';
import type { Turns } from '@gantry/limiter';
import type { CommitPipeline, Write } from '@gantry/store';
import type { Redacting } from '../redaction/redacting-plan.ts';
import type { PreparedChildren } from './children.ts';
import type { Inputs } from './clock.ts';
import type { EventHub } from './event-hub.ts';
import type { OpenedRun } from './opened-run.ts';
import type { Executor } from './outside-work.ts';
import type { RunActor } from './run-actor.ts';
import type { Outbox } from './runtime.ts';

export interface ActorHost extends Inputs {
  readonly epoch: number;
  readonly pipeline: CommitPipeline;
  readonly turns: Turns;
  readonly redacting: Redacting;
  readonly hub: EventHub;
  readonly outbox: Outbox;
  readonly executor: (execution: Execution) => Executor;
  readonly prepareChildren: (
    plan: Plan,
    parent: Run,
    requests: ReturnType<typeof childRequests>,
  ) => Promise<PreparedChildren>;
  /** These writes are on disk: mail among them can be delivered, subscribers can be notified. */
  committed(writes: readonly Write[]): void;
  /** These children are on disk. */
  opened(children: readonly OpenedRun[]): void;
  /** The run has nothing left to do here: it ended or waits until `wakeAt`. */
  parked(actor: RunActor, wakeAt: number | null): void;
  /** The store refused, or another process owns the run: the state in memory cannot be trusted. */
  lost(actor: RunActor, error: unknown): void;
}

export type ActorState =
  /** Waits for a command, for work outside the process or for the next due time. */
  | { readonly name: 'resting'; readonly cancelTimer?: () => void }
  /** Decides, or releases the run. */
  | { readonly name: 'working' }
  /** A commit is in progress: the store may be ahead of `run`. */
  | { readonly name: 'writing' }
  /** Left memory permanently: the run must be opened again. */
  | { readonly name: 'gone' };
