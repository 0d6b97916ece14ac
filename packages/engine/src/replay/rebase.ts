/** Converts an event of one run to an event of another. */
import type { ForkMode, Json, JsonObject, RunEvent } from '@gantry/protocol';
import { deepEqual, isObject } from '../json.ts';

export interface RunPair {
  readonly sourceRunId: string;
  readonly runId: string;
}

export interface ForkIds extends RunPair {
  readonly mode: ForkMode;
}

/** Fields of payloads that hold the id of the run itself. */
const RUN_IDS = ['runId', 'parentRunId', 'resource'];
/** Fields that begin with it. A replay keeps the interrupts of its source, a branch opens its own. */
const QUESTION_IDS = ['key', 'interruptId', 'conversationId'];
const OWN_IDS = { replay: RUN_IDS, branch: [...RUN_IDS, ...QUESTION_IDS] };

/** Keeps everything except references to the run. */
export function rebase(event: RunEvent, ids: ForkIds): RunEvent {
  if (!isObject(event)) return event;
  const { causationId } = event;
  const cause = typeof causationId === 'string' ? rebaseText(causationId, ids) : undefined;
  const payload = isObject(event.payload) ? rebasePayload(event.payload, ids) : event.payload;
  return { ...event, payload, ...(cause !== undefined && { causationId: cause }) };
}

function rebasePayload(payload: JsonObject, ids: ForkIds): JsonObject {
  let rebased = payload;
  for (const field of OWN_IDS[ids.mode]) {
    const value = payload[field];
    if (typeof value !== 'string') continue;
    const text = rebaseText(value, ids);
    if (text !== value) rebased = { ...rebased, [field]: text };
  }
  return rebased;
}

function rebaseText(text: string, { sourceRunId, runId }: RunPair): string {
  if (!text.startsWith(sourceRunId)) return text;
  const rest = text.slice(sourceRunId.length);
  return rest === '' || rest.startsWith('.') || rest.startsWith(':') ? runId + rest : text;
}

/** Whether a value of the fork equals one of its source, apart from the run ids. */
export const sameValue = (forked: Json | undefined, original: Json | undefined, ids: RunPair): boolean =>
  deepEqual(forked, original, (text, ofSource) => text === rebaseText(ofSource, ids));

/** Ignores ids, causes and times, which differ between runs. */
export const sameEvent = (forked: RunEvent, original: RunEvent, ids: RunPair): boolean =>
  isObject(original) && forked.type === original.type && sameValue(forked.payload, original.payload, ids);
