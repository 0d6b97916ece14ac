/** What a node gave, beside what its pack declares that it gives. */
import type { SchemaCheck } from '@gantry/engine';
import type { Json, JsonObject } from '@gantry/protocol';
import { compileUserSchema } from '../workflows/user-schema.ts';

/** Schemas of versions that are in memory. */
const checks = new WeakMap<JsonObject, SchemaCheck>();

function checkOf(schema: JsonObject): SchemaCheck {
  const known = checks.get(schema);
  if (known) return known;
  const compiled = compileUserSchema(schema);
  // It was looked at when the pack was installed
  if (typeof compiled === 'string') throw new Error(compiled);
  checks.set(schema, compiled);
  return compiled;
}

/** Undefined when the outputs fit, or nothing is declared. */
export function outputMisfit(
  schema: JsonObject | undefined,
  outputs: Json,
): { readonly path: string; readonly message: string } | undefined {
  const misfit = schema && checkOf(schema)(outputs);
  return misfit && { path: misfit.path || '/', message: misfit.message };
}
