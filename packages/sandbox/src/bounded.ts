/** Texts and values that pack code chooses, on their way to events and logs: each cut, and all of them together. */
import type { Json } from '@gantry/protocol';

export const TEXT_MAX = 8 * 1024;
/** Characters of one value with all that is in it. */
const VALUE_MAX = 64 * 1024;
/** Counted for each element, so that empty ones end as well. */
const ELEMENT_COST = 4;

/** Anything but a text says nothing here: turning a large list into one takes time. */
export const cutText = (value: unknown, max = TEXT_MAX): string =>
  typeof value === 'string' ? value.slice(0, max) : '';

/** The beginning of a value: texts and names are cut, and what is beyond `VALUE_MAX` is left out. */
export const cutJson = (value: unknown): Json => cutWithin(value, { left: VALUE_MAX });

function cutWithin(value: unknown, room: { left: number }): Json {
  room.left -= ELEMENT_COST;
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value === 'string') return taken(value, room);
  if (typeof value !== 'object' || value === null) return null;
  if (value instanceof Uint8Array)
    return taken(Buffer.from(value.subarray(0, TEXT_MAX)).toString('base64'), room);
  if (Array.isArray(value)) {
    const items: Json[] = [];
    for (const item of value) if (room.left > 0) items.push(cutWithin(item, room));
    return items;
  }
  const members: [string, Json][] = [];
  for (const [name, item] of Object.entries(value))
    if (room.left > 0) members.push([taken(name, room), cutWithin(item, room)]);
  return Object.fromEntries(members);
}

function taken(text: string, room: { left: number }): string {
  const cut = text.slice(0, Math.max(0, Math.min(TEXT_MAX, room.left)));
  room.left -= cut.length;
  return cut;
}
