/** Turns what NATS reports into the catalogue. */

import { OpenwopError } from '@gantry/protocol';
import { JetStreamApiError, JetStreamError } from '@nats-io/jetstream';
import { errors } from '@nats-io/transport-node';
import { backendUnavailable } from '../queue/errors.ts';

const NOT_FOUND = 404;
export const STREAM_FULL = 10_077;
export const STREAM_EXISTS_OTHERWISE = 10_058;

const PASSING = [
  errors.ClosedConnectionError,
  errors.ConnectionError,
  errors.DrainingConnectionError,
  errors.NoRespondersError,
  errors.RequestError,
  errors.TimeoutError,
  JetStreamApiError,
  JetStreamError,
];

/** Bugs stay what they are. */
export function explain(error: unknown, host: string): unknown {
  if (error instanceof OpenwopError) return error;
  const isDenied = error instanceof errors.PermissionViolationError;
  if (isDenied || (error instanceof JetStreamApiError && error.status === NOT_FOUND)) {
    const refusal = new OpenwopError('queue_topic_not_found');
    refusal.cause = error;
    return refusal;
  }
  if (!PASSING.some((kind) => error instanceof kind)) return error;
  return backendUnavailable(`NATS at ${host} did not do what was asked. Try again later.`, error);
}

export const apiCodeOf = (error: unknown): number | null =>
  error instanceof JetStreamApiError ? error.code : null;
