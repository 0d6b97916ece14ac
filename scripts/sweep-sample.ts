import type { Json, JsonObject } from '@gantry/protocol';

const DEPTH_MAX = 12;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const own = (value: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(value, key) ? value[key] : undefined;

/** A value that a simple schema would take: enough to run a node on inputs that nobody wrote. */
export function sampleOf(schema: Json | undefined, depth = 0): Json {
  if (!isObject(schema) || depth > DEPTH_MAX) return {};
  const given =
    own(schema, 'const') ?? own(schema, 'default') ?? first(schema, 'examples') ?? first(schema, 'enum');
  if (given !== undefined) return given;
  const branch = first(schema, 'oneOf') ?? first(schema, 'anyOf') ?? first(schema, 'allOf');
  if (branch !== undefined && own(schema, 'type') === undefined) return sampleOf(branch, depth + 1);
  switch (typeOf(schema)) {
    case 'string':
      return stringOf(schema);
    case 'integer':
    case 'number':
      return numberOf(schema, 'minimum') ?? 1;
    case 'boolean':
      return true;
    case 'null':
      return null;
    case 'array':
      return Array.from({ length: Math.min(numberOf(schema, 'minItems') ?? 0, 100) }, () =>
        sampleOf(own(schema, 'items'), depth + 1),
      );
    default:
      return objectOf(schema, depth);
  }
}

function typeOf(schema: JsonObject): Json | undefined {
  const type = own(schema, 'type');
  return Array.isArray(type) ? type.find((one) => one !== 'null') : type;
}

/** Only what is required: optional members are where nodes need more than they were given. */
function objectOf(schema: JsonObject, depth: number): JsonObject {
  const properties = own(schema, 'properties');
  const required = own(schema, 'required');
  const names = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
  const members = names.map((name) => [
    name,
    sampleOf(isObject(properties) ? own(properties, name) : {}, depth + 1),
  ]);
  return Object.fromEntries(members);
}

const FORMATS: Readonly<Record<string, string>> = {
  uri: 'https://example.com/',
  url: 'https://example.com/',
  email: 'user@example.com',
  date: '2026-01-01',
  'date-time': '2026-01-01T00:00:00Z',
};

function stringOf(schema: JsonObject): string {
  const format = own(schema, 'format');
  if (typeof format === 'string' && FORMATS[format] !== undefined) return FORMATS[format];
  return 'sample'
    .padEnd(Math.min(numberOf(schema, 'minLength') ?? 0, 10_000), 'x')
    .slice(0, numberOf(schema, 'maxLength'));
}

function numberOf(schema: JsonObject, key: string): number | undefined {
  const value = own(schema, key);
  return typeof value === 'number' ? value : undefined;
}

function first(schema: JsonObject, key: string): Json | undefined {
  const list = own(schema, key);
  return Array.isArray(list) ? list[0] : undefined;
}

/** The sample for a schema file of a pack. */
export function sampleFor(file: Uint8Array | undefined): JsonObject {
  if (file === undefined) return {};
  const sample = sampleOf(JSON.parse(Buffer.from(file).toString('utf8')));
  return isObject(sample) ? sample : {};
}
