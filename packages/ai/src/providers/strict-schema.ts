import type { Json } from '@gantry/protocol';

const REFUSED = ['oneOf', 'allOf', 'not', 'if', 'prefixItems', 'patternProperties', 'propertyNames'];
const DEPTH_MAX = 10;

/** Whether a schema may be requested as strict. Servers refuse other schemas if strict, but accept them otherwise. */
export function isStrictSchema(schema: Json | undefined, depth = 0): boolean {
  if (schema === null || typeof schema !== 'object' || Array.isArray(schema) || depth > DEPTH_MAX)
    return false;
  if (REFUSED.some((keyword) => keyword in schema)) return false;
  const { properties = {}, required = [], items, anyOf, $defs = {} } = schema;
  const members = Object.values(properties as Record<string, Json>);
  const isObject = schema.type === 'object' || 'properties' in schema;
  if (depth === 0 && !isObject) return false;
  if (isObject) {
    const isClosed = schema.additionalProperties === false;
    if (!isClosed || !Array.isArray(required) || required.length !== members.length) return false;
  }
  const inner = [
    ...members,
    ...(items === undefined ? [] : [items]),
    ...(Array.isArray(anyOf) ? anyOf : []),
    ...Object.values($defs as Record<string, Json>),
  ];
  return inner.every((one) => isStrictSchema(one, depth + 1));
}
