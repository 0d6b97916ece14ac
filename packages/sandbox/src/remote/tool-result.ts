/** From what a tool answers to the result of its node. */
import type { JsonObject } from '@gantry/protocol';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { failed, tooLarge } from '../fault.ts';
import type { NodeError, NodeResult } from '../invocation.ts';
import { isObject, nodeError, toJsonObject, toNodeError } from '../result.ts';

const DEPTH_MAX = 64;
const TEXT_MAX = 4_096;

export function toolResult(answer: CallToolResult, outputBytesMax: number): NodeResult {
  if (answer.isError) return failed(toolError(answer), 'pack');
  const outputs = outputsOf(answer);
  if (!isShallow(outputs, DEPTH_MAX))
    return failed(
      nodeError('remote_answer_invalid', 'The answer of the remote pack is nested too deep.'),
      'pack',
    );
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

/** A tool may say more than a text: `{error: {code, message, retryable, details}}`, as other packs have it. */
function toolError(answer: CallToolResult): NodeError {
  const said = isObject(answer.structuredContent) ? answer.structuredContent.error : undefined;
  if (isObject(said) && isShallow(said, DEPTH_MAX)) {
    const details: JsonObject = toJsonObject(said.details);
    return toNodeError({ code: FAILED, ...said, details });
  }
  return nodeError(
    FAILED,
    textOf(answer).slice(0, TEXT_MAX) || 'The remote pack failed and did not say why.',
  );
}

export const FAILED = 'remote_tool_failed';

function isShallow(value: unknown, depthLeft: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depthLeft > 0 && Object.values(value).every((item) => isShallow(item, depthLeft - 1));
}
