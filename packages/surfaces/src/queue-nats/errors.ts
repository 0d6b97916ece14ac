/** Turns what NATS reports into the catalogue. */

import { OpenwopError } from '@gantry/protocol';
import { JetStreamApiError, JetStreamError } from '@nats-io/jetstream';
import { errors } from '@nats-io/transport-node';
import { codeOf, refused, type ServerError, unconnected } from '../backend-errors.ts';
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
  const denied = deniedIn(error);
  if (denied) return tooFewRights(denied, host);
  if (isMissing(error)) return new OpenwopError('queue_topic_not_found', { cause: error });
  if (!PASSING.some((kind) => error instanceof kind)) return error;
  return serverUnavailable(`NATS at ${host}`, 'did not do what was asked. Try again later.', error);
}

type Denied = InstanceType<typeof errors.PermissionViolationError>;

/** Of a request it is the cause. */
export function deniedIn(error: unknown): Denied | null {
  if (error instanceof errors.PermissionViolationError) return error;
  return error instanceof Error && error.cause instanceof errors.PermissionViolationError
    ? error.cause
    : null;
}

/** Without what is of one tenant, or of one connection. */
const GENERAL = /^(?:\$JS(?:\.[A-Z]+(?=\.|$))+|_INBOX|gantry\.queue)/;

function tooFewRights({ operation, subject }: Denied, host: string): ServerError {
  const general = GENERAL.exec(subject)?.[0];
  const where = general === undefined ? 'a subject' : subject === general ? general : `${general}.>`;
  return refused(
    'queue_backend_unavailable',
    `NATS at ${host}`,
    `does not let the user ${operation === 'publish' ? 'publish' : 'subscribe'} to ${where}. Let it publish to ` +
      '$JS.API.>, $JS.ACK.> and gantry.queue.>, and subscribe to _INBOX.>.',
  );
}

/** The library says so by text alone. */
const NO_TLS = /does not support 'tls'/;

/** What connecting failed with: nobody's call had begun. */
export function explainOpening(error: unknown, host: string): unknown {
  if (error instanceof OpenwopError) return error;
  const server = `NATS at ${host}`;
  const refuse = (why: string) => refused('queue_backend_unavailable', server, why);
  if (error instanceof errors.AuthorizationError)
    return refuse('refuses the user, the password or the token. Correct them in the setting.');
  if (error instanceof Error && error.name === NO_JETSTREAM)
    return refuse('has no JetStream, which queues need. Start it with -js, or enable it for the account.');
  if (error instanceof Error && NO_TLS.test(error.message))
    return refuse('does not speak TLS, which the setting asks for. Switch it on there, or write nats://.');
  const denied = deniedIn(error);
  if (denied) return tooFewRights(denied, host);
  const { name, cause } = error instanceof Error ? error : {};
  const source = codeOf(error) === null ? cause : error;
  const reason = error instanceof errors.TimeoutError ? 'ETIMEDOUT' : (codeOf(source) ?? name);
  return unconnected('queue_backend_unavailable', server, source, reason ?? 'no reason given');
}

/** A stream, a consumer or a message. */
export const isMissing = (error: unknown): boolean =>
  error instanceof JetStreamApiError && error.status === NOT_FOUND;

export const apiCodeOf = (error: unknown): number | null =>
  error instanceof JetStreamApiError ? error.code : null;
