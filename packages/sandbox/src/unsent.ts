/** Calls and answers that no frame can carry, as errors of the one call that they belong to. */
import type { NodeError } from './invocation.ts';
import { nodeError } from './result.ts';
import { BYTES_MAX, HEAD_BYTES_MAX, TooLarge, VALUES_MAX } from './runner/wire.mjs';

const REASON_MAX = 1_000;

/** What members that carry content say of too much of it; the protocol has these codes. */
const CONTENT_CODES: readonly (readonly [string, string])[] = [
  ['fs.', 'file_too_large'],
  ['file.', 'file_too_large'],
  ['storage.blob.', 'blob_object_too_large'],
  ['storage.cache.', 'cache_value_too_large'],
  ['storage.kv.', 'kv_value_too_large'],
];

function tooLarge(method: string, reason: string): NodeError {
  const code = CONTENT_CODES.find(([path]) => method.startsWith(path))?.[1] ?? 'sandbox_invocation_error';
  const details = { maxJsonBytes: HEAD_BYTES_MAX, maxBytes: BYTES_MAX, maxValues: VALUES_MAX };
  return nodeError(code, `${method}: ${reason}`, details);
}

/** What the runner says of a call that it could not send. */
export function unsentCall(
  method: string,
  { reason, isTooLarge }: Readonly<Record<string, unknown>>,
): NodeError {
  const text = typeof reason === 'string' ? reason.slice(0, REASON_MAX) : 'the call cannot be sent.';
  return isTooLarge === true
    ? tooLarge(method, `${text} Send bytes instead of base64, or make several calls.`)
    : nodeError('sandbox_invocation_error', `${method}: ${text}`);
}

/** Of the host, to a call that it did. */
export const unsentAnswer = (method: string, error: unknown): NodeError =>
  error instanceof TooLarge
    ? tooLarge(method, `the answer is too large. ${error.message} Ask for less at once.`)
    : nodeError('sandbox_invocation_error', `${method}: the answer of the host cannot be sent.`);
