import type { JsonObject, RunError } from '@gantry/protocol';

/** How work that left the process came back. */
export type Outcome =
  | { readonly ok: true; readonly outputs: JsonObject; readonly variables?: JsonObject }
  | { readonly ok: false; readonly error: RunError; readonly retryable: boolean };

export type DrainPolicy = 'immediate' | 'drain-current-node';

/** Time arrives as `now`, in milliseconds since the epoch. */
export type Command =
  | { readonly type: 'start'; readonly now: number }
  /** Runs what is ready, at most about `maxEvents` events of it. */
  | { readonly type: 'advance'; readonly now: number; readonly maxEvents: number }
  /** Something due: a delay, a retry, a time limit. Then advances. */
  | { readonly type: 'wake'; readonly now: number; readonly maxEvents: number }
  | {
      readonly type: 'settle';
      readonly now: number;
      readonly nodeId: string;
      readonly attempt: number;
      readonly visit: number;
      readonly outcome: Outcome;
    }
  | { readonly type: 'cancel'; readonly now: number; readonly reason?: string; readonly by?: string }
  | {
      readonly type: 'pause';
      readonly now: number;
      readonly reason?: string;
      readonly drainPolicy: DrainPolicy;
    }
  | { readonly type: 'resume'; readonly now: number; readonly reason?: string };
