/** The events of tool calls: names, hashes and codes, never arguments or answers. */
import { hash } from 'node:crypto';
import { type EmittedEvent, ERRORS, type ErrorCode, type Json, type JsonObject } from '@gantry/protocol';
import type { CalledTool } from '@gantry/surfaces';
import canonicalize from 'canonicalize';

/** The agent of calls that no agent makes, and the principal of runs without one. */
const SYSTEM = 'core.system';

export interface ToldCall {
  readonly callId: string;
  readonly tool: Pick<CalledTool, 'name' | 'transport'>;
  readonly argsHash: string;
  readonly principal: string | undefined;
}

export type ToolEnding =
  | { readonly ok: true; readonly durationMs: number }
  | { readonly ok: false; readonly code: ErrorCode; readonly durationMs?: number | undefined };

/** SHA-256 over the canonical JSON of arguments whose secrets are redacted. */
export const argsHashOf = (args: Json): string => hash('sha256', canonicalize(args) ?? 'null', 'hex');

const aboutOf = ({ callId, tool }: ToldCall): JsonObject => ({
  agentId: SYSTEM,
  toolName: tool.name,
  callId,
});

export const toolCalled = (call: ToldCall): EmittedEvent => ({
  type: 'agent.toolCalled',
  payload: {
    ...aboutOf(call),
    argsHash: call.argsHash,
    principal: call.principal ?? SYSTEM,
    transport: call.tool.transport,
  },
});

const STATUS: Partial<Record<ErrorCode, 'forbidden' | 'rate_limited'>> = {
  forbidden: 'forbidden',
  ssrf_blocked: 'forbidden',
  credential_forbidden: 'forbidden',
  approval_rejected: 'forbidden',
  rate_limited: 'rate_limited',
};

/** A failure has the text of the error catalogue: the message of the error itself may contain arguments. */
export function toolReturned(call: ToldCall, ending: ToolEnding): EmittedEvent {
  const about = aboutOf(call);
  if (ending.ok)
    return { type: 'agent.toolReturned', payload: { ...about, status: 'ok', durationMs: ending.durationMs } };
  const { code, durationMs } = ending;
  const status = STATUS[code] ?? 'error';
  const error = { code, message: ERRORS[code].message };
  const lasted = status === 'error' && durationMs !== undefined ? { durationMs } : {};
  return { type: 'agent.toolReturned', payload: { ...about, status, error, ...lasted } };
}

/** For a tool that was never called: its call id is derived from its name. */
export const forbiddenAtLoad = (toolName: string): EmittedEvent => ({
  type: 'agent.toolReturned',
  payload: {
    agentId: SYSTEM,
    toolName,
    callId: `forbidden:${hash('sha256', toolName, 'hex')}`,
    status: 'forbidden',
    error: { code: 'forbidden', message: ERRORS.forbidden.message },
  },
});
