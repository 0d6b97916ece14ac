import Type, { type Static } from 'typebox';
import type { JsonObject } from './json.ts';

/** Every non-2xx body: exactly this, closed. */
export const ErrorEnvelope = Type.Object(
  {
    error: Type.String({ minLength: 1 }),
    message: Type.String({ minLength: 1 }),
    details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  { additionalProperties: false },
);
export type ErrorEnvelope = Static<typeof ErrorEnvelope>;

export interface ErrorEntry {
  /** HTTP status; 0 for codes that only a run carries. */
  readonly status: number;
  /** Whether sending the same request again can succeed. */
  readonly retriable: boolean;
  /** What happened, in one sentence that can stand in a response. */
  readonly message: string;
  /** What the reader should do next. */
  readonly next: string;
}

export const ERRORS = {
  unauthenticated: {
    status: 401,
    retriable: false,
    message: 'No valid API key was sent.',
    next: 'Send `Authorization: Bearer <key>` with a key of this host.',
  },
  not_found: {
    status: 404,
    retriable: false,
    message: 'There is nothing here that this key may see.',
    next: 'Check the id and that the key belongs to the right tenant.',
  },
  validation_error: {
    status: 400,
    retriable: false,
    message: 'The request is not valid.',
    next: 'Correct the fields named in `details` and send it again.',
  },
  internal_error: {
    status: 500,
    retriable: true,
    message: 'The host failed to answer this request.',
    next: 'Try again; if it persists, look up `details.correlationId` in the host log.',
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;

/** An expected failure. The API turns it into the envelope; everything else becomes `internal_error`. */
export class OpenwopError extends Error {
  readonly code: ErrorCode;
  readonly details: JsonObject | undefined;
  /** Response headers that belong to the failure, such as `Retry-After`. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    options: { message?: string; details?: JsonObject; headers?: Record<string, string> } = {},
  ) {
    super(options.message ?? `${ERRORS[code].message} ${ERRORS[code].next}`);
    this.name = 'OpenwopError';
    this.code = code;
    this.details = options.details;
    this.headers = options.headers ?? {};
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}
