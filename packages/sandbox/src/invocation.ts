import type { Json, JsonObject } from '@gantry/protocol';

/** Installed code: a folder that nothing writes to while it is used. */
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

/** The owner of an invocation. Nothing is ever shared between two different keys. */
export interface PrincipalKey {
  readonly tenant: string;
  readonly workspace: string;
  readonly principal: string;
}

/**
 * How a ctx member behaves in the child: one answer, also with vectors packed on their way to it; an async iterable;
 * a last argument that is called with events; blocking; a `Response`; or a value that the node returns to end or
 * redirect the run.
 */
export type SurfaceKind =
  | 'unary'
  | 'numbers'
  | 'stream'
  | 'callback'
  | 'sync'
  | 'response'
  | 'terminate'
  | 'directive';

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
  /** By the keys of `requiredCredentials`: the values, which exist nowhere else. */
  readonly credentials?: JsonObject;
}

export interface InvocationLimits {
  /** What the code may use beyond the bare process. */
  readonly memoryBytes: number;
  readonly wallClockMs: number;
  /** For the pack to load; else as long as the node may take. */
  readonly loadMs?: number;
  /** Of the result. */
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
  /** Counts the calls, events and suspensions of one dispatch, from 0, as the host saw them. */
  readonly ordinal: number;
  /** 0, then 1 more each time the invocation was dispatched again because a neighbour was killed. */
  readonly dispatch: number;
  /** Aborted when the pack has its answer, or its invocation has ended. */
  readonly signal: AbortSignal;
  /** The child waits for this answer and takes no other. */
  readonly isBlocking?: boolean;
  /** For `stream` and `callback`: resolves when the pack has taken the value. */
  send(value: Data): Promise<void>;
  /** Runs what takes others long: until it ends, the time of the invocation stands still. */
  untimed?<T>(act: () => Promise<T>): Promise<T>;
}

export interface Invocation {
  readonly code: PackCode;
  readonly key: PrincipalKey;
  /** The ids of `runtime.requires` that were granted. */
  readonly grants: readonly string[];
  /** What `env.read` shows, by name. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly typeId: string;
  /**
   * May run again by itself when its process goes down. What acts on the world may not: it has its process for
   * itself while it runs, and is dispatched once.
   */
  readonly repeatable: boolean;
  readonly ctx: NodeContext;
  readonly variables: JsonObject;
  /** What earlier suspensions of this node were answered with, by their key. */
  readonly answers: JsonObject;
  readonly limits: InvocationLimits;
  readonly surfaces: SurfaceTable;
  readonly signal?: AbortSignal;
  /** Every ctx member that leaves the child, and `net.fetch` where that is granted. Of what it throws, `OpenwopError` and `ErrorForPack` reach the pack. */
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
 * Where a failure comes from. Not known from its code: a pack may throw any code.
 * `pack`: its code, which has ended by itself or never began. `host`: the host, which cut it off for breaking a bound.
 * `process`: its process, or the connection to it, ended meanwhile.
 */
export type ErrorOrigin = 'pack' | 'host' | 'process';

export type NodeResult =
  | { readonly status: 'success'; readonly outputs: JsonObject }
  | { readonly status: 'error'; readonly origin: ErrorOrigin; readonly error: NodeError }
  | { readonly status: 'suspended'; readonly key: string; readonly request: JsonObject }
  | { readonly status: 'terminate'; readonly request: JsonObject }
  | { readonly status: 'directive'; readonly request: JsonObject };

/** What the host itself saw used, sorted; never what the pack says of itself. */
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
