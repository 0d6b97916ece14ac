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
  /** Sequence of the latest `core.workflowChain.event` about this child: the cause of the next one. */
  readonly chainSeq?: number;
}

interface EndedPart {
  readonly status: ChildStatus;
  /** Absent when the child could not be started. */
  readonly childRunId?: string;
  readonly error?: RunError;
  /** The variables that its parent requested. Kept until they are merged. */
  readonly variables?: JsonObject;
  /** Names in `variables` that are sensitive in the child. */
  readonly sensitive?: readonly string[];
  /** Ended because the parent no longer needed it. */
  readonly released?: true;
}

export type EndedChild = ChildBase & EndedPart;

export const isEnded = (child: Child): child is EndedChild =>
  child.status === 'completed' || child.status === 'failed' || child.status === 'cancelled';

/** The children of one visit of a node. */
export interface NodeChildren {
  readonly visit: number;
  readonly children: readonly Child[];
  /** Child run ids in the order in which the parent recorded their ends. */
  readonly ended: readonly string[];
  /** Sequence of the orchestrator's decision that caused the dispatch. */
  readonly causeSeq?: number;
  /** Set when pack code called the workflow: the inputs for the child. */
  readonly callInputs?: JsonObject;
}

/** A request of pack code through `ctx.invokeSubWorkflow`. */
export interface WorkflowCall {
  readonly workflowId: string;
  readonly inputs: JsonObject;
}

/** An answered call of pack code: how its child ended, or why there was none. */
export type CalledRun = {
  readonly workflowId: string;
  /** The attempt of the node that made the call. */
  readonly attempt: number;
  readonly status: ChildStatus;
  /** Absent when the child could not be started. */
  readonly runId?: string;
  /** Masked outputs of the child. */
  readonly outputs?: JsonObject;
  readonly error?: RunError;
};

/** A child that the shell must start. */
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

/** The result of starting a child. */
export type ChildStart =
  | { readonly index: number; readonly childRunId: string }
  | { readonly index: number; readonly error: RunError };

/** The report of a child when it ends. */
export interface ChildReport {
  readonly childRunId: string;
  readonly status: ChildStatus;
  readonly variables: JsonObject;
  /** Names in `variables` that are sensitive in the child. */
  readonly sensitive: readonly string[];
  /** Masked outputs of the child; for a parent that called the workflow. */
  readonly outputs?: JsonObject;
  readonly error?: RunError;
  /** Set if content from outside reached the child. */
  readonly contentTrust?: 'untrusted';
}

/** The error of a node whose child failed. If the child could not be started, its own error. */
export function childFailure(child: EndedChild): RunError {
  const { childRunId, status, error, workflowId } = child;
  if (childRunId === undefined && error) return error;
  const details: JsonObject = { childRunId: childRunId ?? '', childStatus: status };
  if (error) details.error = error;
  const why = error ? `: ${error.message}` : '.';
  return { code: 'child_failed', message: `The child run of ${workflowId} ${VERBS[status]}${why}`, details };
}

const VERBS = { completed: 'completed', failed: 'failed', cancelled: 'was cancelled' } as const;

/** A child in the outputs of its node. */
export const childView = ({ childRunId, status: childStatus, error }: EndedChild): JsonObject =>
  given({ childRunId, childStatus, error });
