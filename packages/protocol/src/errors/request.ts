import type { ErrorEntry } from './entry.ts';

/** A request that cannot be served, whoever sends it. */
export const REQUEST_ERRORS = {
  validation_error: {
    status: 400,
    retriable: false,
    message: 'The request is not valid.',
    next: 'Correct the fields named in `details` and send it again.',
  },
  invalid_argument: {
    status: 400,
    retriable: false,
    message: 'A value that is needed is missing.',
    next: 'Give the field in `details.field`.',
  },
  fork_point_invalid: {
    status: 422,
    retriable: false,
    message: 'The run cannot be forked at this event.',
    next: 'Choose a `fromSeq` from 0 to `details.maxFromSeq`.',
  },
  run_expired: {
    status: 410,
    retriable: false,
    message: 'A run of that age is past its retention; nothing is kept of it.',
    next: 'Start a new run; to keep runs longer, raise the retention of the host.',
  },
  not_found: {
    status: 404,
    retriable: false,
    message: 'There is nothing here that this key may see.',
    next: 'Check the id and that the key belongs to the right tenant.',
  },
  method_not_allowed: {
    status: 405,
    retriable: false,
    message: 'This path does not take that method.',
    next: 'Use one of the methods in the `Allow` header.',
  },
  payload_too_large: {
    status: 413,
    retriable: false,
    message: 'The request body is too large.',
    next: 'Send less than `limits.maxRequestBodyBytes` of the discovery document.',
  },
  unsupported_media_type: {
    status: 415,
    retriable: false,
    message: 'The request body has a media type that this path does not read.',
    next: 'Send JSON with `Content-Type: application/json`.',
  },
  conflict: {
    status: 409,
    retriable: false,
    message: 'The current state does not allow that.',
    next: 'Read the resource again; `details` says which state it is in.',
  },
  run_already_active: {
    status: 409,
    retriable: true,
    message: 'A run of this scope is already active.',
    next: 'Wait for `details.activeRunId` to end or cancel it, then try again.',
  },
  run_terminal: {
    status: 409,
    retriable: false,
    message: 'The run has already ended.',
    next: 'Nothing is left to do; start a new run if you need one.',
  },
  idempotency_key_mismatch: {
    status: 409,
    retriable: false,
    message: 'This idempotency key was used for a different request.',
    next: 'Use a new key for a new request; repeat the first request exactly to get its answer.',
  },
  idempotency_in_flight: {
    status: 409,
    retriable: true,
    message: 'A request with this idempotency key is still being worked on.',
    next: 'Try again after `details.retryAfter` seconds to get its answer.',
  },
  rate_limited: {
    status: 429,
    retriable: true,
    message: 'Too many requests.',
    next: 'Try again after the seconds in the `Retry-After` header.',
  },
  service_unavailable: {
    status: 503,
    retriable: true,
    message: 'The host is at capacity or shutting down.',
    next: 'Try again after the seconds in the `Retry-After` header.',
  },
  storage_unavailable: {
    status: 503,
    retriable: true,
    message: 'The host cannot write to its storage; nothing was changed.',
    next: 'Try again later; the operator must free or repair the disk or the database.',
  },
  runner_unavailable: {
    status: 503,
    retriable: true,
    message: 'Nothing is free to run this right now.',
    next: 'Try again later.',
  },
  unsupported_stream_mode: {
    status: 400,
    retriable: false,
    message: 'This stream mode is unknown, or cannot be combined with the others.',
    next: 'Use one of `details.supported`; `values` stands alone.',
  },
  unsupported_mock_provider: {
    status: 400,
    retriable: false,
    message: 'This host has no such mock provider.',
    next: 'Use one of `details.supportedProviders`, or leave out `configurable.mockProvider`.',
  },
  unsupported_force_engine_version: {
    status: 400,
    retriable: false,
    message: 'This engine version cannot be forced here.',
    next: 'Use a version inside `testing.forceEngineVersionRange` of the discovery document.',
  },
  interop_version_unsupported: {
    status: 400,
    retriable: false,
    message: 'The two sides share no protocol version.',
    next: 'Use a version that both sides advertise.',
  },
  internal_error: {
    status: 500,
    retriable: true,
    message: 'The host failed to answer this request.',
    next: 'Try again; if it persists, look up `details.correlationId` in the host log.',
  },
} as const satisfies Record<string, ErrorEntry>;
