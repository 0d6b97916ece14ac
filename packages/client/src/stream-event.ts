import {
  isTerminalEvent,
  type Json,
  type JsonObject,
  type RunEventDoc,
  type RunStatus,
} from '@gantry/protocol';
import { isTerminal } from '@gantry/protocol/run-status';
import { badResponse } from './error.ts';
import type { SseFrame } from './sse.ts';

/** An event as streamed: `values` and `messages` frames may have fewer members than a full event document. */
export type StreamEvent = Pick<RunEventDoc, 'type' | 'runId' | 'sequence' | 'payload'> & Partial<RunEventDoc>;

/** Whether this is the last event of a run. */
export function endsRun(event: StreamEvent): boolean {
  if (event.type !== 'state.snapshot') return isTerminalEvent(event.type);
  return isTerminal(event.payload?.status as RunStatus);
}

/** The events of a frame: one, or many in a `batch` frame. */
export function eventsOf(runId: string, frame: SseFrame): StreamEvent[] {
  const data = parse(frame);
  const items = frame.event === 'batch' && Array.isArray(data) ? data : [data];
  return items.flatMap((item) => toEvent(runId, frame, item) ?? []);
}

function parse(frame: SseFrame): Json {
  try {
    return JSON.parse(frame.data);
  } catch {
    throw badResponse(200, `Got the event "${frame.event}" with data that is not JSON.`);
  }
}

/** Undefined for a frame without a position in the log: it could not be delivered exactly once. */
function toEvent(runId: string, frame: SseFrame, item: Json): StreamEvent | undefined {
  if (item === null || typeof item !== 'object' || Array.isArray(item)) return undefined;
  if (isEventDoc(item)) return item;
  if (frame.event === 'batch' || !/^\d+$/.test(frame.id)) return undefined;
  return { type: frame.event, runId, sequence: Number(frame.id), payload: item };
}

const isEventDoc = (item: JsonObject): item is JsonObject & StreamEvent =>
  typeof item.type === 'string' && typeof item.sequence === 'number' && typeof item.runId === 'string';
