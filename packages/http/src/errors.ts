/** Every failure is sent as the closed envelope; an unexpected one as `internal_error`. */

import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { errorEnvelope, invalid, type Json, type JsonObject, OpenwopError } from '@gantry/protocol';
import { StoreError } from '@gantry/store';
import type { FastifyBaseLogger, FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { knownCaller } from './context.ts';
import { JSON_TYPE } from './reply.ts';

const STORAGE_RETRY_SECONDS = 5;
const UNKNOWN_OUTCOME =
  'The connection to the storage was lost during the commit: it is unknown whether the change was made. ' +
  'Repeating the request with the same Idempotency-Key is safe; without one, read the state first.';

function fromFastify(error: FastifyError): OpenwopError | null {
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new OpenwopError('payload_too_large');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new OpenwopError('unsupported_media_type');
    case 'FST_ERR_BAD_URL':
      return invalid('The path is not a valid URL.');
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new OpenwopError('not_found');
    default: {
      // Other refusals of Fastify before a handler runs, such as a body shorter than announced.
      const status = error.statusCode ?? 500;
      return status >= 400 && status < 500 ? new OpenwopError('validation_error') : null;
    }
  }
}

/** The failure to send, or null for an unexpected error. */
function expectedError(error: unknown): OpenwopError | null {
  if (error instanceof OpenwopError) return error;
  if (error instanceof StoreError) {
    if (error.code === 'invalid_text') {
      return invalid('Text must not contain NUL characters or lone surrogates.');
    }
    const isUnknown = error.outcome === 'unknown';
    return new OpenwopError('storage_unavailable', {
      ...(isUnknown && { message: UNKNOWN_OUTCOME }),
      details: { retryAfter: STORAGE_RETRY_SECONDS, ...(isUnknown && { outcome: 'unknown' }) },
      headers: { 'retry-after': String(STORAGE_RETRY_SECONDS) },
    });
  }
  return error instanceof Error && 'code' in error && String(error.code).startsWith('FST_')
    ? fromFastify(error as FastifyError)
    : null;
}

/** Removes the secrets of a tenant from a value. */
export type Redact = <T extends Json>(tenant: string, value: T) => T;

export function createErrorHandler(log: FastifyBaseLogger, redact: Redact = (_, value) => value) {
  const sendError = (error: OpenwopError, request: FastifyRequest, reply: FastifyReply): void => {
    const caller = knownCaller(request);
    const { error: code, ...text } = errorEnvelope(error);
    void reply
      .code(error.status)
      .headers(error.headers)
      .type(JSON_TYPE)
      .send(JSON.stringify({ error: code, ...(caller ? redact(caller.tenant, text as JsonObject) : text) }));
  };
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const expected = expectedError(error);
    // 501 describes this host; it is not a fault.
    if (expected !== null && (expected.status < 500 || expected.status === 501)) {
      sendError(expected, request, reply);
      return;
    }
    const correlationId = randomUUID();
    const about = { correlationId, method: request.method, route: request.routeOptions.url ?? 'unknown' };
    // A full host is not a fault either, and many clients may get this error.
    if (error instanceof OpenwopError && error.code !== 'internal_error' && error.cause === undefined)
      log.info({ ...about, code: error.code }, 'request refused');
    else log.error({ ...about, err: error }, 'request failed');
    const { code, message, details, headers } = expected ?? new OpenwopError('internal_error');
    const answered = new OpenwopError(code, { message, details: { ...details, correlationId }, headers });
    sendError(answered, request, reply);
  };
}

const CLIENT_ERRORS: Record<string, { status: string; problem: string }> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    problem: 'Its headers are too large.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: '408 Request Timeout', problem: 'It did not arrive in time.' },
};

/** Answers bytes that are not HTTP. There is no Fastify request yet, only the socket. */
export function answerBrokenRequest(error: { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const { status, problem } = CLIENT_ERRORS[error.code ?? ''] ?? {
    status: '400 Bad Request',
    problem: 'It is not valid HTTP.',
  };
  const body = JSON.stringify(errorEnvelope(invalid(`The request could not be read. ${problem}`)));
  const head = `HTTP/1.1 ${status}\r\nContent-Type: ${JSON_TYPE}\r\nContent-Length: ${Buffer.byteLength(body)}`;
  // The client may never close its side, and requests of the socket wait for more data until it is closed
  socket.end(`${head}\r\nConnection: close\r\n\r\n${body}`, () => socket.destroy());
}
