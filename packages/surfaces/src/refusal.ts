import type { ErrorCode, JsonObject } from '@gantry/protocol';

/** An expected failure, by its code in the catalogue. Nothing of the write stays. Loads nothing: threads start fast. */
export class Refusal extends Error {
  readonly code: ErrorCode;
  readonly details: JsonObject;
  constructor(code: ErrorCode, options: { readonly message?: string; readonly details?: JsonObject } = {}) {
    super(options.message);
    this.code = code;
    this.details = options.details ?? {};
  }
}
