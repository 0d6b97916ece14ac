/** Documents as they are read: jsonb has its members by length, every backend tells them by name. */
import type { Json, JsonObject } from '@gantry/protocol';

export const documentOf = <T extends JsonObject = JsonObject>(text: string): T =>
  withSortedMembers(JSON.parse(text)) as T;

/** Own members also where the name is `__proto__`. */
const withSortedMembers = (object: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.keys(object)
      .sort()
      .map((name) => [name, sorted(object[name]!)]),
  );

function sorted(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? value.map(sorted) : withSortedMembers(value);
}
