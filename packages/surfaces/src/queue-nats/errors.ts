/** Turns what NATS reports into the catalogue. */

import { OpenwopError } from '@gantry/protocol';
import { JetStreamApiError, JetStreamError } from '@nats-io/jetstream';
import { errors } from '@nats-io/transport-node';
import { codeOf, refused, unreachable } from '../backend-errors.ts';
import { serverUnavailable } from '../queue/errors.ts';

const NOT_FOUND = 404;
/** A class that the library keeps to itself. */
const NO_JETSTREAM = 'JetStreamNotEnabled';
export const WRONG_LAST_SEQUENCE = 10_071;
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
  if (isDenied || isMissing(error)) return new OpenwopError('queue_topic_not_found', { cause: error });
  if (!PASSING.some((kind) => error instanceof kind)) return error;
  return serverUnavailable(`NATS at ${host}`, 'did not do what was asked. Try again later.', error);
}

/** What connecting failed with: nobody's call had begun. */
export function explainOpening(error: unknown, host: string): unknown {
  const server = `NATS at ${host}`;
  const refuse = (why: string) => refused('queue_backend_unavailable', server, why);
  if (error instanceof errors.AuthorizationError)
    return refuse('refuses the user, the password or the token. Correct them in the setting.');
  if (error instanceof Error && error.name === NO_JETSTREAM)
    return refuse('has no JetStream, which queues need. Start it with -js, or enable it for the account.');
  const { name, cause } = error instanceof Error ? error : {};
  return unreachable('queue_backend_unavailable', server, codeOf(cause) ?? name ?? 'no reason given');
}

/** A stream, a consumer or a message. */
export const isMissing = (error: unknown): boolean =>
  error instanceof JetStreamApiError && error.status === NOT_FOUND;

export const apiCodeOf = (error: unknown): number | null =>
  error instanceof JetStreamApiError ? error.code : null;
