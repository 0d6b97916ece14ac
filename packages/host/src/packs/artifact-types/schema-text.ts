/** JSON Schemas that packs bring as files. */
import type { JsonObject } from '@gantry/protocol';
import { compileUserSchema } from '../../workflows/user-schema.ts';

type Check = Exclude<ReturnType<typeof compileUserSchema>, string>;

export type SchemaReading =
  | { readonly usable: true; readonly schema: JsonObject; readonly check: Check }
  | { readonly usable: false; readonly problem: string };

/** Published schemas name themselves by an address; nothing is ever fetched from there. */
export function readSchemaText(text: string): SchemaReading {
  const { $id: _id, $schema: _dialect, ...schema } = parse(text);
  const check = compileUserSchema(schema);
  return typeof check === 'string' ? { usable: false, problem: check } : { usable: true, schema, check };
}

/** The archive was checked before: it is JSON, an object or one of the two schemas that are a word. */
function parse(text: string): JsonObject {
  const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
  if (value === false) return { not: {} };
  return value === true ? {} : (value as JsonObject);
}
