/** Converts the answer of a tool, or the reason why there is none, to the result of its node. */
import { EgressError, type EgressReason } from '@gantry/egress';
import type { JsonObject } from '@gantry/protocol';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { failed, noAnswer, timedOut, tooLarge } from '../fault.ts';
import type { NodeError, NodeResult } from '../invocation.ts';
import { isObject, nodeError, toJsonObject, toNodeError } from '../result.ts';
import { type Mcp, TimeOver } from './connection.ts';

const DEPTH_MAX = 64;
const TEXT_MAX = 4_096;

const invalidAnswer = (why: string): NodeError =>
  nodeError('remote_answer_invalid', `The answer of the remote pack ${why}.`);

export function toolResult(answer: CallToolResult, outputBytesMax: number): NodeResult {
  if (answer.isError) return failed(toolError(answer), 'pack');
  const outputs = outputsOf(answer);
  if (!isShallow(outputs, DEPTH_MAX)) return failed(invalidAnswer('is nested too deep'), 'pack');
  const size = Buffer.byteLength(JSON.stringify(outputs));
  if (size > outputBytesMax) return failed(tooLarge(outputBytesMax, size), 'pack');
  return { status: 'success', outputs: toJsonObject(outputs) };
}

function outputsOf(answer: CallToolResult): object {
  if (isObject(answer.structuredContent)) return answer.structuredContent;
  const text = textOf(answer);
  return objectIn(text) ?? { text };
}

const textOf = ({ content }: CallToolResult): string =>
  content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');

function objectIn(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A tool may return a structured error, as other packs do: `{error: {code, message, retryable, details}}`. */
function toolError(answer: CallToolResult): NodeError {
  const said = isObject(answer.structuredContent) ? answer.structuredContent.error : undefined;
  if (isObject(said) && isShallow(said, DEPTH_MAX)) {
    const details: JsonObject = toJsonObject(said.details);
    return toNodeError({ code: FAILED, ...said, details });
  }
  const text = textOf(answer).slice(0, TEXT_MAX);
  return nodeError(FAILED, text || 'The remote pack failed and did not say why.');
}

const FAILED = 'remote_tool_failed';

function isShallow(value: unknown, depthLeft: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depthLeft > 0 && Object.values(value).every((item) => isShallow(item, depthLeft - 1));
}

/** Whether the tool may already have acted. */
export type Phase = 'connecting' | 'calling';

const PASSING: ReadonlySet<EgressReason> = new Set(['resolve_failed', 'connect_failed', 'timeout']);
const BUSY: ReadonlySet<number> = new Set([429, 503]);
const RPC_TEXT_MAX = 1_024;

export function failureOf(mcp: Mcp, error: unknown, phase: Phase, wallClockMs: number): NodeError {
  if (error instanceof TimeOver) return timedOut(wallClockMs);
  if (error instanceof EgressError) return unreachable(error, phase, wallClockMs);
  if (error instanceof mcp.StreamableHTTPError) return refused(error.code ?? 0);
  if (!(error instanceof mcp.McpError)) return invalidAnswer('is not a valid MCP message');
  if (error.code === mcp.ErrorCode.ConnectionClosed) return noAnswer('The connection was closed.');
  return nodeError(FAILED, error.message.slice(0, RPC_TEXT_MAX), { rpcCode: error.code });
}

function unreachable({ reason, message, sent }: EgressError, phase: Phase, wallClockMs: number): NodeError {
  if (phase === 'connecting' || !sent)
    return { ...nodeError(reason, message), retryable: PASSING.has(reason) };
  if (reason === 'timeout') return timedOut(wallClockMs);
  if (reason === 'response_too_large') return nodeError(reason, message);
  return noAnswer(message);
}

/** An HTTP status instead of an MCP answer. The response body is not repeated. */
function refused(status: number): NodeError {
  if (status === 401 || status === 403) {
    const message = `The remote pack answers ${status}: it asks for credentials, and this host sends none.`;
    return nodeError('credential_unavailable', message);
  }
  const message = `The remote pack answers with HTTP status ${status} instead of a result.`;
  return { ...nodeError('remote_unavailable', message, { status }), retryable: BUSY.has(status) };
}
