/** What the code of a pack gets and gives, beside the surfaces. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [name: string]: Json };

/** `{ field: value }` or `{ "field.inner": { $gt: 1 } }`; see `nosql` in docs/capabilities.md. */
export type Filter = JsonObject;
export type Fields = { readonly [name: string]: string | number | boolean };
export type SqlValue = Json | Uint8Array;
/** In the order of `?` or `$1`, or by the names of `:name`. */
export type SqlParams = readonly SqlValue[] | { readonly [name: string]: SqlValue };
export type SqlRow = { [column: string]: SqlValue };

export interface NodeError {
  readonly code: string;
  readonly message: string;
  readonly details?: JsonObject;
}

/** Made by `terminate` and `applyErrorDirective`; return it. */
export interface Ending {
  readonly status: 'terminate' | 'directive';
}

export type NodeResult =
  | { readonly status: 'success'; readonly outputs: JsonObject }
  | { readonly status: 'error'; readonly error: NodeError & { readonly retryable?: boolean } }
  | Ending;

export interface SuspendRequest {
  /** `approval`, `clarification`, `webhook`, `duration`, `until`, or a word of your own. */
  readonly kind: string;
  readonly prompt?: string;
  /** Tells the questions of a node apart; its order does, without. */
  readonly key?: string;
  readonly timeoutMs?: number;
  /** A JSON Schema that the answer has to fit. */
  readonly answerSchema?: JsonObject;
  readonly [more: string]: Json | undefined;
}

export interface SideEffects {
  /** Claims an effect. Act only when it is `acquired`. */
  tryAcquire(effect: { readonly idempotencyKey: string; readonly effectType?: string }): {
    readonly state: 'acquired' | 'duplicate' | 'in-flight';
    readonly effectId: string;
    readonly previousResult?: Json;
  };
  markCompleted(effectId: string, result?: Json): null;
  /** The effect may then be tried again. */
  markFailed(effectId: string, message?: string): null;
}

/** What the host does not offer is absent: where a pack can do without, ask `typeof ctx.emit === 'function'`. */
export interface NodeCtx<Inputs, Config> {
  readonly inputs: Inputs;
  readonly config: Config;
  readonly runId: string;
  readonly nodeId: string;
  readonly tenantId: string;
  readonly userId?: string;
  /** What the trigger brought, for runs that one started. */
  readonly triggerData?: JsonObject;
  readonly trustBoundary: 'trusted' | 'untrusted';
  /** 0, and 1 more for each retry. */
  readonly attempt: number;
  /** What the run was started with under that name. */
  readonly configurable: JsonObject;
  /** Aborted when the run is cancelled or the time is over. */
  readonly signal: AbortSignal;
  /** A line of the run's log. */
  log(level: 'debug' | 'info' | 'warn' | 'error', message: string, data?: JsonObject): void;
  /** Progress, while the node runs. */
  emit(event: { readonly type: string; readonly data?: JsonObject }): Promise<void>;
  /** The run's variables; what is set counts when the node completes. */
  readonly variables: {
    get(name: string): Json | undefined;
    set(name: string, value: Json): void;
  };
  /** Waits for a person or an event. The node then runs again from its top, and the same call answers. */
  suspend(request: SuspendRequest): Promise<Json>;
  /** Do something once, however often the node runs. Not in a pure node. */
  readonly sideEffects: SideEffects;
  /** Starts a workflow and waits for it; throws `child_failed`. Not in a pure node. */
  invokeSubWorkflow(call: { readonly workflowRef: string; readonly inputs?: JsonObject }): Promise<{
    readonly runId: string;
    readonly status: 'completed';
    readonly outputs: JsonObject;
  }>;
  /** `return ctx.terminate(…)` ends the whole run, as failed. */
  terminate(error: NodeError): Ending;
  /** For nodes that handle failures: `resume` goes on with `fallback`, `ignore` without, `break` ends the run. */
  applyErrorDirective(request: {
    readonly directive: 'resume' | 'ignore' | 'break';
    readonly fallback?: Json;
    readonly upstreamError?: Json;
  }): Ending;
}
