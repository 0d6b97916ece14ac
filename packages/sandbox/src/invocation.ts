import type { Json, JsonObject, Owner } from '@gantry/protocol';

/** Installed code, in a folder that is not modified while in use. */
export interface PackCode {
  readonly name: string;
  readonly version: string;
  /** Absolute. */
  readonly folder: string;
  /** Relative to the folder. */
  readonly entry: string;
  readonly language: 'javascript' | 'wasm' | 'python';
  /** `runtime.format`: `esm` unless it says CommonJS. */
  readonly format?: string;
  readonly wasm?: { readonly memoryPagesMax?: number };
}

/**
 * How a ctx member behaves in the child. `unary` gives one answer, `numbers` also one but packs vectors in the
 * arguments, `stream` returns an async iterable, `callback` calls its last argument with events, `sync` blocks,
 * `response` gives a `Response`, and `terminate` and `directive` give a value that the node returns to end or
 * redirect the run. `denied` is absent in `ctx`, since packs test for members; a call of it gets the refusal of the
 * host.
 */
export type SurfaceKind =
  | 'unary'
  | 'numbers'
  | 'stream'
  | 'callback'
  | 'sync'
  | 'response'
  | 'terminate'
  | 'directive'
  | 'denied';

/** Dotted ctx paths: `{ 'storage.kv.get': 'unary', callAI: 'unary', 'callAI.embeddings': 'unary' }`. */
export type SurfaceTable = Readonly<Record<string, SurfaceKind>>;

export interface NodeContext {
  readonly runId: string;
  readonly nodeId: string;
  readonly attempt: number;
  readonly inputs: JsonObject;
  readonly config: JsonObject;
  readonly triggerData?: JsonObject;
  readonly userId?: string;
  readonly trustBoundary: 'trusted' | 'untrusted';
  readonly configurable: JsonObject;
  /** By the names of `requiresSecrets`: references, never values. */
  readonly secretRefs?: JsonObject;
  /** By the keys of `requiredCredentials`: the values, which are stored nowhere else. */
  readonly credentials?: JsonObject;
}

export interface InvocationLimits {
  /** The memory that the code may use in addition to the bare process. */
  readonly memoryBytes: number;
  readonly wallClockMs: number;
  /** The time for the pack to load; defaults to `wallClockMs`. */
  readonly loadMs?: number;
  /** The maximum size of the result. */
  readonly outputBytes: number;
}

/** JSON, or JSON with `Uint8Array` leaves: frames carry bytes. */
export type Data =
  | null
  | boolean
  | number
  | string
  | Uint8Array
  | readonly Data[]
  | { readonly [key: string]: Data };

export interface CallIo {
  /**
   * The number of this call among the calls, events and suspensions of one dispatch, from 0, as counted by the host.
   */
  readonly ordinal: number;
  /** 0, increased by 1 each time the invocation is dispatched again because its process was killed for another one. */
  readonly dispatch: number;
  /** Aborted when the pack has received its answer, or its invocation has ended. */
  readonly signal: AbortSignal;
  /** The child waits for this answer and reads no other. */
  readonly isBlocking?: boolean;
  /** For `stream` and `callback`: resolves when the pack has received the value. */
  send(value: Data): Promise<void>;
  /** Runs work that depends on others and may take long. The clock of the invocation stops until it ends. */
  untimed?<T>(act: () => Promise<T>): Promise<T>;
}

export interface Invocation {
  readonly code: PackCode;
  /** Invocations of different owners share nothing, except files. */
  readonly key: Owner;
  /** The ids of `runtime.requires` that were granted. */
  readonly grants: readonly string[];
  /** The variables that `env.read` can read, by name. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly typeId: string;
  /**
   * May run again automatically when its process ends. Invocations with external effects may not: they have
   * their process to themselves and are dispatched once.
   */
  readonly repeatable: boolean;
  readonly ctx: NodeContext;
  readonly variables: JsonObject;
  /** The answers to earlier suspensions of this node, by key. */
  readonly answers: JsonObject;
  readonly limits: InvocationLimits;
  readonly surfaces: SurfaceTable;
  readonly signal?: AbortSignal;
  /**
   * Performs every ctx member that calls the host, and `net.fetch` where granted. Of the errors that it throws,
   * `OpenwopError` and `ErrorForPack` reach the pack.
   */
  call(method: string, args: readonly Data[], io: CallIo): Promise<Data | undefined>;
  emit(event: Data): Promise<void> | void;
  log(level: string, message: string, data?: Data): void;
}

export interface NodeError {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  readonly details?: JsonObject;
}

/**
 * The origin of a failure. It cannot be derived from the code: a pack may throw any code. `pack`: its code,
 * which ended without being stopped or never began. `host`: the host stopped it for exceeding a limit.
 * `process`: its process, or the connection to it, ended during the call.
 */
export type ErrorOrigin = 'pack' | 'host' | 'process';

export type NodeResult =
  | { readonly status: 'success'; readonly outputs: JsonObject }
  | { readonly status: 'error'; readonly origin: ErrorOrigin; readonly error: NodeError }
  | { readonly status: 'suspended'; readonly key: string; readonly request: JsonObject }
  | { readonly status: 'terminate'; readonly request: JsonObject }
  | { readonly status: 'directive'; readonly request: JsonObject };

/** Primitives and surfaces that the host itself saw in use, sorted; never a claim of the pack. */
export interface Receipt {
  readonly primitives: readonly string[];
  readonly surfaces: readonly string[];
}

export interface InvocationOutcome {
  readonly result: NodeResult;
  /** Variables that the node wrote; empty unless it succeeded or suspended. */
  readonly variables: { readonly [name: string]: Json };
  readonly used: Receipt;
  readonly durationMs: number;
}

export type Inspection =
  | { readonly loaded: true; readonly typeIds: readonly string[] }
  | { readonly loaded: false; readonly error: NodeError };
