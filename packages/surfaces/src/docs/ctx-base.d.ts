/** The types of pack code apart from the surfaces. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [name: string]: Json };

/** `{ field: value }` or `{ "field.inner": { $gt: 1 } }`; see `nosql` in docs/capabilities.md. */
export type Filter = JsonObject;
export type Fields = { readonly [name: string]: string | number | boolean };
export type SqlValue = Json | Uint8Array;
/** By position for `?` or `$1`, or by name for `:name`. */
export type SqlParams = readonly SqlValue[] | { readonly [name: string]: SqlValue };
export type SqlRow = { [column: string]: SqlValue };

export interface NodeError {
  readonly code: string;
  readonly message: string;
  readonly details?: JsonObject;
}

/** Returned by `terminate` and `applyErrorDirective`; return it from the node. */
export interface Ending {
  readonly status: 'terminate' | 'directive';
}

export type NodeResult =
  | { readonly status: 'success'; readonly outputs: JsonObject }
  | { readonly status: 'error'; readonly error: NodeError & { readonly retryable?: boolean } }
  | Ending;

export interface SuspendRequest {
  /** `approval`, `clarification`, `webhook`, `duration`, `until`, or a custom kind. */
  readonly kind: string;
  readonly prompt?: string;
  /** Identifies the question among those of the node. Default: its order. */
  readonly key?: string;
  readonly timeoutMs?: number;
  /** A JSON Schema for the answer. */
  readonly answerSchema?: JsonObject;
  readonly [more: string]: Json | undefined;
}

export interface SideEffects {
  /** Claims an effect. Act only if it is `acquired`. */
  tryAcquire(effect: { readonly idempotencyKey: string; readonly effectType?: string }): {
    readonly state: 'acquired' | 'duplicate' | 'in-flight';
    readonly effectId: string;
    readonly previousResult?: Json;
  };
  markCompleted(effectId: string, result?: Json): null;
  /** Allows another attempt at the effect. */
  markFailed(effectId: string, message?: string): null;
}

/**
 * Members that the host does not offer are absent.
 * If one is optional for the pack, check `typeof ctx.emit === 'function'`.
 */
export interface NodeCtx<Inputs, Config> {
  readonly inputs: Inputs;
  readonly config: Config;
  readonly runId: string;
  readonly nodeId: string;
  readonly tenantId: string;
  readonly userId?: string;
  /** The data of the trigger, for runs started by one. */
  readonly triggerData?: JsonObject;
  readonly trustBoundary: 'trusted' | 'untrusted';
  /** 0 for the first attempt, plus 1 for each retry. */
  readonly attempt: number;
  /** The `configurable` value that the run was started with. */
  readonly configurable: JsonObject;
  /** Aborted when the run is cancelled or the time limit is reached. */
  readonly signal: AbortSignal;
  /** Writes a line to the log of the run. */
  log(level: 'debug' | 'info' | 'warn' | 'error', message: string, data?: JsonObject): void;
  /** Reports progress while the node runs. */
  emit(event: { readonly type: string; readonly data?: JsonObject }): Promise<void>;
  /** The variables of the run; changes take effect when the node completes. */
  readonly variables: {
    get(name: string): Json | undefined;
    set(name: string, value: Json): void;
  };
  /** Waits for a person or an event. The node then runs again from the start, and the same call returns the answer. */
  suspend(request: SuspendRequest): Promise<Json>;
  /** Performs an effect once, however often the node runs. Not in a pure node. */
  readonly sideEffects: SideEffects;
  /** Starts a workflow and waits for it; throws `child_failed`. Not in a pure node. */
  invokeSubWorkflow(call: { readonly workflowRef: string; readonly inputs?: JsonObject }): Promise<{
    readonly runId: string;
    readonly status: 'completed';
    readonly outputs: JsonObject;
  }>;
  /** `return ctx.terminate(…)` ends the whole run as failed. */
  terminate(error: NodeError): Ending;
  /** For nodes that handle failures: `resume` continues with `fallback`, `ignore` without it, `break` ends the run. */
  applyErrorDirective(request: {
    readonly directive: 'resume' | 'ignore' | 'break';
    readonly fallback?: Json;
    readonly upstreamError?: Json;
  }): Ending;
}
