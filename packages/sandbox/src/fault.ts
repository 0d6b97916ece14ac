/** Why a process had to end, as the error of the node that made it so. */
import type { ChildEnd } from './child.ts';
import type { NodeError } from './invocation.ts';
import { nodeError } from './result.ts';

export const escapeAttempt = (reason: string, escapeKind = 'host-process-escape'): NodeError =>
  nodeError('sandbox_escape_attempt', `The pack tried to leave its sandbox: ${reason}`, { escapeKind });

export const timedOut = (limitMs: number): NodeError =>
  nodeError('sandbox_timeout', `The pack did not answer within ${limitMs} ms.`);

export const notLoaded = (): NodeError =>
  nodeError('sandbox_timeout', 'The pack did not load in time; see what its module does when it loads.');

export const tooMuchMemory = (limit: number, observed: number): NodeError =>
  nodeError('sandbox_memory_exceeded', 'The pack used more memory than it may.', { limit, observed });

export const tooLarge = (limit: number, observed: number): NodeError =>
  nodeError('sandbox_invocation_error', 'The result of the node is too large.', { limit, observed });

/** A process that ended by itself. */
export function endedAlone(end: ChildEnd): NodeError {
  if (end.kind === 'heap-exhausted')
    return nodeError('sandbox_memory_exceeded', 'The pack used up the heap it may have.');
  if (end.kind === 'bad-frame') return escapeAttempt(end.reason);
  const reason = end.kind === 'exited' ? end.reason : 'it was stopped';
  return nodeError('sandbox_invocation_error', `The process of the pack ended: ${reason}`);
}

/** For what may not be repeated by itself. */
export const endedForAnother = (): NodeError =>
  nodeError('sandbox_invocation_error', 'The process of the pack was stopped because of another invocation.');

export const neverStarted = (dispatches: number): NodeError =>
  nodeError(
    'sandbox_invocation_error',
    `The process of the pack went down ${dispatches} times before the node could run; see what its module does when it loads.`,
  );
