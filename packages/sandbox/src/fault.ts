/** Errors that say why an invocation or its process had to end. */
import type { JsonObject } from '@gantry/protocol';
import type { ChildEnd } from './child.ts';
import type { ErrorOrigin, NodeError, NodeResult } from './invocation.ts';
import { nodeError } from './result.ts';
import { BYTES_MAX, HEAD_BYTES_MAX, TooLarge, VALUES_MAX } from './runner/wire.mjs';

/** An error created by the host. Errors from packs have no origin. */
export interface Fault extends NodeError {
  readonly origin: ErrorOrigin;
}

const fault = (origin: ErrorOrigin, code: string, message: string, details?: JsonObject): Fault => ({
  ...nodeError(code, message, details),
  origin,
});

/** A fault without a specific code. */
const failure = (origin: ErrorOrigin, message: string, details?: JsonObject): Fault =>
  fault(origin, 'sandbox_invocation_error', message, details);

/** The error as shown to packs and runs. */
export function withoutOrigin({ code, message, retryable, details }: NodeError | Fault): NodeError {
  return { code, message, retryable, ...(details && { details }) };
}

/** `otherwise` is the origin of an error that is not a `Fault`. */
export const failed = (error: NodeError | Fault, otherwise: ErrorOrigin): NodeResult => ({
  status: 'error',
  origin: 'origin' in error ? error.origin : otherwise,
  error: withoutOrigin(error),
});

export const escapeAttempt = (reason: string, escapeKind = 'host-process-escape'): Fault =>
  fault('host', 'sandbox_escape_attempt', `The pack tried to escape its sandbox: ${reason}`, { escapeKind });

export const timedOut = (limitMs: number): Fault =>
  fault('host', 'sandbox_timeout', `The pack did not answer within ${limitMs} ms.`);

export const notLoaded = (): Fault =>
  fault(
    'host',
    'sandbox_timeout',
    'The pack did not load in time; check what its module does when it loads.',
  );

export const tooMuchMemory = (limit: number, observed: number): Fault =>
  fault('host', 'sandbox_memory_exceeded', 'The pack exceeded its memory limit.', { limit, observed });

/** The origin is `pack`, since the node had already ended when its result was checked. */
export const tooLarge = (limit: number, observed: number): Fault =>
  failure(
    'pack',
    `The result of the node takes ${observed} bytes; at most ${limit} fit. Put what is large into a file or blob.`,
    { limit, observed },
  );

/** A process that ended without being stopped by the host. */
export function endedAlone(end: ChildEnd): Fault {
  if (end.kind === 'heap-exhausted')
    return fault('host', 'sandbox_memory_exceeded', 'The pack exceeded its heap limit.');
  if (end.kind === 'bad-frame') return escapeAttempt(end.reason);
  const reason = end.kind === 'exited' ? end.reason : 'it was stopped';
  return failure('process', `The process of the pack ended: ${reason}`);
}

/** For invocations that may not be repeated automatically. */
export const endedForAnother = (): Fault =>
  failure('process', 'The process of the pack was stopped because of another invocation.');

export const neverStarted = (dispatches: number): Fault =>
  failure(
    'pack',
    `The process of the pack ended ${dispatches} times before the node could run; check what its module does when it loads.`,
  );

/** For a remote pack, after the call was sent: its effects are unknown. */
export const noAnswer = (happened: string): Fault =>
  failure('process', `The remote pack did not answer. ${happened}`);

const REASON_MAX = 1_000;

/** The codes that the protocol defines for oversized content, by member. */
const CONTENT_CODES: readonly (readonly [string, string])[] = [
  ['fs.', 'file_too_large'],
  ['file.', 'file_too_large'],
  ['storage.blob.', 'blob_object_too_large'],
  ['storage.cache.', 'cache_value_too_large'],
  ['storage.kv.', 'kv_value_too_large'],
];

function contentTooLarge(method: string, reason: string): NodeError {
  const code = CONTENT_CODES.find(([path]) => method.startsWith(path))?.[1] ?? 'sandbox_invocation_error';
  const details = { maxJsonBytes: HEAD_BYTES_MAX, maxBytes: BYTES_MAX, maxValues: VALUES_MAX };
  return nodeError(code, `${method}: ${reason}`, details);
}

/** The error for a call that the runner could not send. */
export function unsentCall(
  method: string,
  { reason, isTooLarge }: Readonly<Record<string, unknown>>,
): NodeError {
  const text = typeof reason === 'string' ? reason.slice(0, REASON_MAX) : 'the call cannot be sent.';
  return isTooLarge === true
    ? contentTooLarge(method, `${text} Send bytes instead of base64, or make several calls.`)
    : nodeError('sandbox_invocation_error', `${method}: ${text}`);
}

/** The error for an answer that the host could not send; the call itself was performed. */
export const unsentAnswer = (method: string, error: unknown): NodeError =>
  error instanceof TooLarge
    ? contentTooLarge(method, `the answer is too large. ${error.message} Ask for less at once.`)
    : nodeError('sandbox_invocation_error', `${method}: the answer of the host cannot be sent.`);
