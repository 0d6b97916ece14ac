import type { Json } from '@gantry/protocol';
import { isObject } from '../json.ts';

const EVENT_ID_MAX = 256;

/** What tells one delivery of an event from another event; undefined when the sender gives it no id. */
export function eventKey(value: Json | undefined): string | undefined {
  if (!isObject(value) || typeof value.eventId !== 'string' || value.eventId.length > EVENT_ID_MAX) return;
  const correlationId =
    typeof value.correlationId === 'string' ? value.correlationId.slice(0, EVENT_ID_MAX) : '';
  return JSON.stringify([correlationId, value.eventId]);
}
