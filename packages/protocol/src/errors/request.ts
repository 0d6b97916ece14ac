import { refused, retriable } from './entry.ts';

/** Requests that cannot be served for any caller. */
export const REQUEST_ERRORS = {
  ...refused(400, {
    validation_error: [
      'The request is not valid.',
      'Correct the fields named in `details` and send it again.',
    ],
    envelope_reliability_credential_leak: [
      'The event names a credential.',
      'Leave credentials and their references out of the payload.',
    ],
    envelope_recovery_content_leak: [
      'The event contains text that the model sent.',
      'Report only `nodeId`, `path` and `byteOffset`.',
    ],
    provider_usage_credential_leak: [
      'The event names a credential.',
      'Leave credentials and their references out of the payload.',
    ],
    invalid_argument: ['A value that is needed is missing.', 'Give the field in `details.field`.'],
    unsupported_stream_mode: [
      'This stream mode is unknown, or cannot be combined with the others.',
      'Use one of `details.supported`; `values` stands alone.',
    ],
    unsupported_mock_provider: [
      'This host has no such mock provider.',
      'Use one of `details.supportedProviders`, or leave out `configurable.mockProvider`.',
    ],
    unsupported_force_engine_version: [
      'This engine version cannot be forced here.',
      'Use a version inside `testing.forceEngineVersionRange` of the discovery document.',
    ],
    interop_version_unsupported: [
      'The two sides share no protocol version.',
      'Use a version that both sides advertise.',
    ],
  }),
  ...refused(404, {
    not_found: [
      'Not found, or not visible to this key.',
      'Check the id and that the key belongs to the right tenant.',
    ],
  }),
  ...refused(405, {
    method_not_allowed: [
      'This path does not support that method.',
      'Use one of the methods in the `Allow` header.',
    ],
  }),
  ...refused(409, {
    conflict: [
      'The current state does not allow that.',
      'Read the resource again; `details` says which state it is in.',
    ],
    run_terminal: ['The run has already ended.', 'Nothing is left to do; start a new run if you need one.'],
    idempotency_key_mismatch: [
      'This idempotency key was used for a different request.',
      'Use a new key for a new request; repeat the first request exactly to get its answer.',
    ],
  }),
  ...retriable(409, {
    run_already_active: [
      'A run of this scope is already active.',
      'Wait for `details.activeRunId` to end or cancel it, then try again.',
    ],
    idempotency_in_flight: [
      'A request with this idempotency key is still being worked on.',
      'Try again after `details.retryAfter` seconds to get its answer.',
    ],
  }),
  ...refused(410, {
    run_expired: [
      'A run of that age is past its retention period and was deleted.',
      'Start a new run; to keep runs longer, raise the retention of the host.',
    ],
    cursor_expired: [
      'Changes after this number are no longer kept.',
      'Read the list anew, then its changes after `details.last`.',
    ],
  }),
  ...refused(413, {
    payload_too_large: [
      'The request body is too large.',
      'Send less than `limits.maxRequestBodyBytes` of the discovery document.',
    ],
  }),
  ...refused(415, {
    unsupported_media_type: [
      'This path does not accept the media type of the request body.',
      'Send JSON with `Content-Type: application/json`.',
    ],
  }),
  ...refused(422, {
    fork_point_invalid: [
      'The run cannot be forked at this event.',
      'Choose a `fromSeq` from 0 to `details.maxFromSeq`.',
    ],
  }),
  ...retriable(429, {
    rate_limited: ['Too many requests.', 'Try again after the seconds in the `Retry-After` header.'],
  }),
  ...retriable(500, {
    internal_error: [
      'The host failed to answer this request.',
      'Try again; if it persists, look up `details.correlationId` in the host log.',
    ],
  }),
  ...retriable(503, {
    service_unavailable: [
      'The host is at capacity or shutting down.',
      'Try again after the seconds in the `Retry-After` header.',
    ],
    storage_unavailable: [
      'The host cannot write to its storage; nothing was changed.',
      'Try again later; the operator must free or repair the disk or the database.',
    ],
    runner_unavailable: ['Nothing is free to run this right now.', 'Try again later.'],
  }),
};
