/** Which calls of tools are open: a return follows from its call, and a repeated call is in the log once. */
import type { JsonObject, RunEvent } from '@gantry/protocol';
import type { Draft } from '../apply.ts';

/** Calls that were cut off stay open; beyond this the oldest are forgotten. */
const OPEN_MAX = 256;

export function foldToolCall(run: Draft, { type }: RunEvent, { callId }: JsonObject): void {
  if (typeof callId !== 'string') return;
  if (type !== 'agent.toolCalled' && type !== 'agent.toolReturned') return;
  const { [callId]: _, ...others } = run.toolCalls ?? {};
  const open = type === 'agent.toolCalled' ? { ...bounded(others), [callId]: run.nextSeq - 1 } : others;
  if (Object.keys(open).length > 0) run.toolCalls = open;
  else delete run.toolCalls;
}

function bounded(open: { readonly [callId: string]: number }): { readonly [callId: string]: number } {
  const entries = Object.entries(open);
  return entries.length < OPEN_MAX ? open : Object.fromEntries(entries.slice(1 - OPEN_MAX));
}
