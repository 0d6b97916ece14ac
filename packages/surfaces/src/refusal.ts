import type { ErrorCode, JsonObject } from '@gantry/protocol';

/** An expected failure, with its code in the catalogue. The write is rolled back. No imports: threads start fast. */
export class Refusal extends Error {
  readonly code: ErrorCode;
  readonly details: JsonObject;
  constructor(code: ErrorCode, options: { readonly message?: string; readonly details?: JsonObject } = {}) {
    super(options.message);
    this.code = code;
    this.details = options.details ?? {};
  }
}

/** The answer of a thread or process that has its own database connection. */
export type Answer =
  | { readonly kind: 'done'; readonly value: unknown }
  /** Recorded by an earlier call with the same id. */
  | {
      readonly kind: 'recorded';
      /** The recorded text. */
      readonly answer: string;
      readonly method: string;
      readonly fingerprint: string;
    }
  | {
      readonly kind: 'refused';
      readonly code: ErrorCode;
      readonly message: string | undefined;
      readonly details: JsonObject;
    }
  /** The disk or the database cannot serve for now. */
  | { readonly kind: 'unavailable'; readonly reason: string }
  | { readonly kind: 'fault'; readonly stack: string };

/** Primary SQLite result codes that pass or that an operator can fix: busy, read-only, I/O, full, cannot open. */
const PASSING = new Set([5, 8, 10, 13, 14]);

export function failure(error: unknown): Answer {
  if (error instanceof Refusal) {
    const { code, message, details } = error;
    return { kind: 'refused', code, message: message || undefined, details };
  }
  if (!(error instanceof Error)) return { kind: 'fault', stack: String(error) };
  if ('errcode' in error && typeof error.errcode === 'number' && PASSING.has(error.errcode & 0xff))
    return { kind: 'unavailable', reason: error.message };
  return { kind: 'fault', stack: error.stack ?? error.message };
}
