import { given, type JsonObject, type RunError } from '@gantry/protocol';

export type ChildStatus = 'completed' | 'failed' | 'cancelled';

/** One child run of a node's visit, or one that is still to be started. */
export type Child = ChildBase &
  (
    | { readonly status: 'queued' }
    /** To be started now; `childRequests` lists it until the shell has committed its creation. */
    | { readonly status: 'wanted' }
    | { readonly status: 'running'; readonly childRunId: string }
    | EndedPart
  );

interface ChildBase {
  /** The worker: id of the child's workflow. */
  readonly workflowId: string;
  readonly index: number;
  /** Sequence of the latest `core.workflowChain.event` about this child: the next one follows from it. */
  readonly chainSeq?: number;
}

interface EndedPart {
  readonly status: ChildStatus;
  /** Absent when the child could not even be started. */
  readonly childRunId?: string;
  readonly error?: RunError;
  /** What it reported: the variables its parent asked for. Kept until they are merged. */
  readonly variables?: JsonObject;
  /** Names among `variables` that the child keeps from readers. */
  readonly sensitive?: readonly string[];
  /** Ended because the parent no longer wanted it. */
  readonly released?: true;
}

export type EndedChild = ChildBase & EndedPart;

export const isEnded = (child: Child): child is EndedChild =>
  child.status === 'completed' || child.status === 'failed' || child.status === 'cancelled';

/** The children of one visit of a node. */
export interface NodeChildren {
  readonly visit: number;
  readonly children: readonly Child[];
  /** Child run ids in the order in which the parent heard of their end. */
  readonly ended: readonly string[];
  /** Sequence of the orchestrator's decision that all of this follows from. */
  readonly causeSeq?: number;
  /** Given when pack code called the workflow: what it hands to the child. */
  readonly callInputs?: JsonObject;
}

/** What pack code asks for by `ctx.invokeSubWorkflow`. */
export interface WorkflowCall {
  readonly workflowId: string;
  readonly inputs: JsonObject;
}

/** A call of pack code that is answered: how its child ended, or why there was none. */
export type CalledRun = {
  readonly workflowId: string;
  /** Of the node, when it called. */
  readonly attempt: number;
  readonly status: ChildStatus;
  /** Absent when the child could not even be started. */
  readonly runId?: string;
  /** As readers of the child see them. */
  readonly outputs?: JsonObject;
  readonly error?: RunError;
};

/** A child that the shell has to start. */
export interface ChildRequest {
  readonly nodeId: string;
  readonly visit: number;
  readonly index: number;
  readonly workflowId: string;
  readonly inputs: JsonObject;
  readonly unset: readonly string[];
  readonly harvest: readonly string[];
  /** Its end also reports its outputs. */
  readonly reportsOutputs?: true;
}

/** A child run that a node waits for. */
export interface RunningChild {
  readonly nodeId: string;
  readonly visit: number;
  readonly index: number;
  readonly workflowId: string;
  readonly childRunId: string;
}

/** How starting a child went. */
export type ChildStart =
  | { readonly index: number; readonly childRunId: string }
  | { readonly index: number; readonly error: RunError };

/** What a child reports when it ends. */
export interface ChildReport {
  readonly childRunId: string;
  readonly status: ChildStatus;
  readonly variables: JsonObject;
  /** Names among `variables` that the child keeps from readers. */
  readonly sensitive: readonly string[];
  /** As readers of the child see them; for a parent that called the workflow. */
  readonly outputs?: JsonObject;
  readonly error?: RunError;
}

/** How a node fails over a child. One that could not be started says why itself. */
export function childFailure(child: EndedChild): RunError {
  const { childRunId, status, error, workflowId } = child;
  if (childRunId === undefined && error) return error;
  const details: JsonObject = { childRunId: childRunId ?? '', childStatus: status };
  if (error) details.error = error;
  const why = error ? `: ${error.message}` : '.';
  return { code: 'child_failed', message: `The child run of ${workflowId} ${VERBS[status]}${why}`, details };
}

const VERBS = { completed: 'completed', failed: 'failed', cancelled: 'was cancelled' } as const;

/** A child as the outputs of its node tell of it. */
export const childView = ({ childRunId, status: childStatus, error }: EndedChild): JsonObject =>
  given({ childRunId, childStatus, error });
