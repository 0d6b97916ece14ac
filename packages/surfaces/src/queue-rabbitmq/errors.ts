/** Turns what RabbitMQ and its driver report into the catalogue. */
import { OpenwopError } from '@gantry/protocol';
import { codeOf, refused, type ServerError, unconnected } from '../backend-errors.ts';
import { serverUnavailable } from '../queue/errors.ts';
import { Unanswered } from './answered.ts';

const ACCESS_REFUSED = 403;
const NOT_FOUND = 404;
const RESOURCE_LOCKED = 405;

const replyOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : null);

/** The driver tells these apart by text alone. */
const WRONG_PASSWORD = /^Handshake terminated by server: 403\b/;
/** There is none of that name, or it is not up yet. */
const NO_VIRTUAL_HOST = /^Expected ConnectionOpenOk; got <ConnectionClose/;

/** What connecting failed with: nobody's call had begun. `host` is host:port, never the password. */
export function explainOpening(error: unknown, host: string): unknown {
  if (!(error instanceof Error) || error instanceof TypeError) return error;
  const server = `RabbitMQ at ${host}`;
  if (WRONG_PASSWORD.test(error.message)) {
    const why = 'refuses the user or the password. Correct them in the setting.';
    return refused('queue_backend_unavailable', server, why);
  }
  if (replyOf(error) === ACCESS_REFUSED) return tooFewRights(error, host);
  return unconnected('queue_backend_unavailable', server, error, whyNot(error));
}

/** Servers before 3.11 do not say which right it is. The queue is one of a tenant: it is not named. */
function tooFewRights({ message }: Error, host: string): ServerError {
  const right = /(configure|write|read) access to/.exec(message)?.[1];
  return refused(
    'queue_backend_unavailable',
    `RabbitMQ at ${host}`,
    `does not give the user a right that is needed${right === undefined ? '' : ` (${right})`}. Give it all three on ` +
      'what is named ^(gantry\\.queue\\..*|amq\\.default)$ in the virtual host, with rabbitmqctl set_permissions.',
  );
}

function whyNot(error: Error): string {
  if (error instanceof Unanswered) return 'it does not answer, or only one side speaks TLS';
  if (NO_VIRTUAL_HOST.test(error.message)) return 'it does not open the virtual host';
  return codeOf(error) ?? 'it ended the connection';
}

/** For about a second after it started, the server knows of queues that it cannot reach yet. */
const NOT_YET = / is (?:down|stopped|inaccessible)/;

export const isMissing = (error: unknown): boolean =>
  error instanceof Error && replyOf(error) === NOT_FOUND && !NOT_YET.test(error.message);

/** Another connection has the exclusive queue of that name. */
export const isLocked = (error: unknown): boolean => replyOf(error) === RESOURCE_LOCKED;

export function explain(error: unknown, host: string): unknown {
  if (error instanceof OpenwopError || error instanceof TypeError) return error;
  if (error instanceof Error && replyOf(error) === ACCESS_REFUSED) return tooFewRights(error, host);
  if (isMissing(error)) return new OpenwopError('queue_topic_not_found', { cause: error });
  return serverUnavailable(`RabbitMQ at ${host}`, 'cannot be used for now. Try again later.', error);
}
