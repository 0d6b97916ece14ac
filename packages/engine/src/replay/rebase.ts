/** An event of one run as an event of another. */
import type { ForkMode, Json, JsonObject, RunEvent } from '@gantry/protocol';
import { isObject } from '../json.ts';

export interface RunPair {
  readonly sourceRunId: string;
  readonly runId: string;
}

export interface ForkIds extends RunPair {
  readonly mode: ForkMode;
}

/** Fields of payloads that hold the id of the run itself. */
const RUN_IDS = ['runId', 'parentRunId', 'resource'];
/** Those that begin with it. A replay asks what its source asked, a branch asks anew. */
const QUESTION_IDS = ['key', 'interruptId', 'conversationId'];
const OWN_IDS = { replay: RUN_IDS, branch: [...RUN_IDS, ...QUESTION_IDS] };

/** Everything is kept but what names the run. */
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

/** Whether a value of the fork says the same as one of its source, each in terms of its own run. */
export function sameValue(
  forked: Json | undefined,
  original: Json | undefined,
  ids: RunPair,
  depth = 0,
): boolean {
  if (forked === original) return true;
  if (typeof forked === 'string' && typeof original === 'string') return forked === rebaseText(original, ids);
  if (typeof forked !== 'object' || typeof original !== 'object') return false;
  if (forked === null || original === null || depth > DEPTH_MAX) return false;
  if (Array.isArray(forked) || Array.isArray(original)) {
    if (!Array.isArray(forked) || !Array.isArray(original) || forked.length !== original.length) return false;
    return forked.every((item, index) => sameValue(item, original[index], ids, depth + 1));
  }
  const keys = Object.keys(forked);
  if (keys.length !== Object.keys(original).length) return false;
  return keys.every(
    (key) => Object.hasOwn(original, key) && sameValue(forked[key], original[key], ids, depth + 1),
  );
}

/** Data nested deeper than this counts as different; recursion stays far from the stack's end. */
const DEPTH_MAX = 400;

/** Ids, causes and clocks are each run's own. */
export const sameEvent = (forked: RunEvent, original: RunEvent, ids: RunPair): boolean =>
  isObject(original) && forked.type === original.type && sameValue(forked.payload, original.payload, ids);
