import type { ErrorCode, JsonObject } from '@gantry/protocol';

/** What a thread or process answers that has a connection of its own to a database. */
export type Answer =
  | { readonly kind: 'done'; readonly value: unknown }
  /** On record from an earlier call with the same id. */
  | {
      readonly kind: 'recorded';
      readonly value: unknown;
      readonly method: string;
      readonly fingerprint: string;
    }
  | {
      readonly kind: 'refused';
      readonly code: ErrorCode;
      readonly message: string | undefined;
      readonly details: JsonObject;
    }
  /** The disk or the database cannot do it for now. */
  | { readonly kind: 'unavailable'; readonly reason: string }
  | { readonly kind: 'fault'; readonly stack: string };
