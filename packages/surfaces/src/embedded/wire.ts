/** What travels between the main thread and the threads that own the database. Loads nothing: threads start fast. */
import type { ErrorCode, JsonObject } from '@gantry/protocol';
import type { Invocation } from '../surface-call.ts';

export interface Request {
  readonly id: number;
  readonly area: string;
  readonly name: string;
  readonly args: readonly unknown[];
  /** Null for reads and for the upkeep of the database itself. */
  readonly invocation: { readonly call: Invocation; readonly now: number } | null;
}

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

export type Reply = readonly [id: number, answer: Answer];

/** The reply to opening. */
export const OPENED = 0;

/** An expected failure, by its code in the catalogue. Nothing of the write stays. */
export class Refusal extends Error {
  readonly code: ErrorCode;
  readonly details: JsonObject;
  constructor(code: ErrorCode, options: { readonly message?: string; readonly details?: JsonObject } = {}) {
    super(options.message);
    this.code = code;
    this.details = options.details ?? {};
  }
}
