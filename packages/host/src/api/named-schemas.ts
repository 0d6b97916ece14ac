/** Schemas of the protocol as components of the OpenAPI document, so that generated clients have models. */
import * as protocol from '@gantry/protocol';
import { isObject, type JsonObject } from '@gantry/protocol';

/** What clients call them. */
const RENAMED: Readonly<Record<string, string>> = {
  RunSnapshot: 'Run',
  RunEventDocSchema: 'Event',
  OpenInterrupt: 'Interrupt',
};

const isModel = (value: unknown): value is JsonObject =>
  isObject(value) && value.type === 'object' && 'properties' in value;

/** By their JSON: schemas are copied where a member is optional. */
function named(): Map<string, string> {
  const names = new Map<string, string>();
  for (const [name, schema] of Object.entries(protocol))
    if (/^[A-Z][A-Za-z]+$/.test(name) && isModel(schema)) {
      const text = JSON.stringify(schema);
      if (!names.has(text)) names.set(text, RENAMED[name] ?? name);
    }
  return names;
}

/** The document with references to the named schemas, and those that it refers to. */
export function withModels(document: JsonObject): { document: JsonObject; schemas: JsonObject } {
  const names = named();
  const schemas: JsonObject = {};
  const membersOf = (value: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(value).map(([key, member]) => [key, referring(member)]));

  function referring(value: JsonObject[string]): JsonObject[string] {
    if (Array.isArray(value)) return value.map(referring);
    if (!isObject(value)) return value;
    const name = isModel(value) ? names.get(JSON.stringify(value)) : undefined;
    if (name === undefined) return membersOf(value);
    if (!Object.hasOwn(schemas, name)) {
      schemas[name] = {};
      schemas[name] = membersOf(value);
    }
    return { $ref: `#/components/schemas/${name}` };
  }
  return { document: membersOf(document), schemas };
}
