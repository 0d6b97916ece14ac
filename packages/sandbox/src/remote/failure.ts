/** Why a call of a remote pack has no answer, as the error of its node. */
import { EgressError, type EgressReason } from '@gantry/egress';
import { noAnswer, timedOut } from '../fault.ts';
import type { NodeError } from '../invocation.ts';
import { nodeError } from '../result.ts';
import { type Mcp, TimeOver } from './connection.ts';
import { FAILED } from './tool-result.ts';

/** Whether the tool may already have acted. */
export type Phase = 'connecting' | 'calling';

const PASSING: ReadonlySet<EgressReason> = new Set(['resolve_failed', 'connect_failed', 'timeout']);
const BUSY: ReadonlySet<number> = new Set([429, 503]);
const TEXT_MAX = 1_024;

export function failureOf(mcp: Mcp, error: unknown, phase: Phase, wallClockMs: number): NodeError {
  if (error instanceof TimeOver) return timedOut(wallClockMs);
  if (error instanceof EgressError) return unreachable(error, phase, wallClockMs);
  if (error instanceof mcp.StreamableHTTPError) return refused(error.code ?? 0);
  if (!(error instanceof mcp.McpError))
    return nodeError('remote_answer_invalid', 'The answer of the remote pack is no valid MCP message.');
  if (error.code === mcp.ErrorCode.ConnectionClosed) return noAnswer('The connection was closed.');
  return nodeError(FAILED, error.message.slice(0, TEXT_MAX), { rpcCode: error.code });
}

function unreachable({ reason, message, sent }: EgressError, phase: Phase, wallClockMs: number): NodeError {
  if (phase === 'connecting' || !sent)
    return { ...nodeError(reason, message), retryable: PASSING.has(reason) };
  if (reason === 'timeout') return timedOut(wallClockMs);
  if (reason === 'response_too_large') return nodeError(reason, message);
  return noAnswer(message);
}

/** An HTTP status in place of an MCP answer. What the server wrote beside it is not repeated. */
function refused(status: number): NodeError {
  if (status === 401 || status === 403) {
    const message = `The remote pack answers ${status}: it asks for credentials, and this host sends none.`;
    return nodeError('credential_unavailable', message);
  }
  const message = `The remote pack answers with HTTP status ${status} instead of a result.`;
  return { ...nodeError('remote_unavailable', message, { status }), retryable: BUSY.has(status) };
}
