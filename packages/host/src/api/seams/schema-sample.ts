/** Derives a small valid value from a schema, where that is possible. */
import { isObject, type Json, type JsonObject } from '@gantry/protocol';

const DEPTH_MAX = 20;
const ITEMS_MAX = 10;

export function sampleOf(schema: Json | undefined, depth = 0): Json {
  if (!isObject(schema) || depth > DEPTH_MAX) return {};
  const { const: only, enum: choices, default: usual, examples, anyOf, oneOf } = schema;
  if (only !== undefined) return only;
  if (usual !== undefined) return usual;
  for (const list of [choices, examples]) if (Array.isArray(list) && list.length > 0) return list[0]!;
  for (const list of [anyOf, oneOf])
    if (Array.isArray(list) && list.length > 0) return sampleOf(list[0], depth + 1);
  return ofType(schema, Array.isArray(schema.type) ? schema.type[0] : schema.type, depth);
}

function ofType(schema: JsonObject, type: Json | undefined, depth: number): Json {
  switch (type) {
    case 'string':
      return 'sample'.padEnd(Math.min(Number(schema.minLength ?? 0), 10_000), '.');
    case 'integer':
    case 'number':
      return Math.max(0, Math.ceil(Number(schema.minimum ?? 0)));
    case 'boolean':
      return true;
    case 'null':
      return null;
    case 'array': {
      const length = Math.min(Number(schema.minItems ?? 0), ITEMS_MAX);
      return Array.from({ length }, () => sampleOf(schema.items, depth + 1));
    }
    default: {
      const properties = isObject(schema.properties) ? schema.properties : {};
      const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
      return Object.fromEntries(required.map((name) => [name, sampleOf(properties[name], depth + 1)]));
    }
  }
}
