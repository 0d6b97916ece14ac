import type { JsonObject } from '@gantry/protocol';

/** A failure that pack code is told as it is, under a code that the error catalogue need not have. */
export class ErrorForPack extends Error {
  readonly code: string;
  readonly details: JsonObject | undefined;
  readonly retryable: boolean;

  constructor(
    code: string,
    message: string,
    { details, retryable = false }: { readonly details?: JsonObject; readonly retryable?: boolean } = {},
  ) {
    super(message);
    this.name = 'ErrorForPack';
    this.code = code;
    this.details = details;
    this.retryable = retryable;
  }
}
