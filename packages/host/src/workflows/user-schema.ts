/** JSON Schemas of users: their size is limited before they are compiled, and patterns take linear time. */
import { createRequire } from 'node:module';
import type { CompileSchema } from '@gantry/engine';
import { meant, mistyped, NAME_MAX, oneOf } from '@gantry/protocol';
import type { Ajv2020, ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import { RE2JS } from 're2js';
import { schemaIssues } from './schema-bounds.ts';

const regExp = Object.assign((pattern: string) => RE2JS.compile(pattern), { code: 'RE2JS.compile' });

const require = createRequire(import.meta.url);

/** Loaded with the first schema: a host without schemas saves 100 modules. */
const loadAjv = (): typeof import('ajv/dist/2020.js') => require('ajv/dist/2020.js');

const OPTIONS = { strict: false, validateFormats: false, allErrors: false, verbose: true, code: { regExp } };

let metaSchemas: Pick<Ajv2020, 'schemas' | 'refs'> | undefined;

/** The meta-schemas, compiled once: that takes 20 times as long as compiling a small schema. */
function compileMetaSchemas(): Pick<Ajv2020, 'schemas' | 'refs'> {
  const ajv = new (loadAjv().Ajv2020)(OPTIONS);
  ajv.validateSchema({});
  return ajv;
}

/**
 * Throws when the schema is not valid. Check `schemaIssues` first. Each schema has its own instance, which knows no
 * other user's `$id`.
 */
export function compileAjv(schema: object): ValidateFunction {
  metaSchemas ??= compileMetaSchemas();
  const ajv = new (loadAjv().Ajv2020)({ ...OPTIONS, meta: false });
  Object.assign(ajv.schemas, metaSchemas.schemas);
  Object.assign(ajv.refs, metaSchemas.refs);
  return ajv.compile(schema);
}

/** Lists the choices of an enum, and adds a suggestion where a name is missing or unknown. */
export function inWords({
  keyword,
  params,
  message = 'is not valid',
  data,
  parentSchema,
}: ErrorObject): string {
  const known = Object.keys(Object(parentSchema?.properties));
  const member = String(params.additionalProperty).slice(0, NAME_MAX);
  if (keyword === 'additionalProperties') return `has no member "${member}"${meant(member, known)}`;
  if (keyword === 'enum') return oneOf(params.allowedValues);
  if (keyword === 'const') return oneOf([params.allowedValue]);
  if (keyword !== 'required') return message;
  return message + mistyped(String(params.missingProperty), Object.keys(Object(data)), known);
}

/** Why this schema cannot be used; empty if it can. */
export function userSchemaIssues(schema: Record<string, unknown>): string[] {
  const issues = schemaIssues(schema);
  if (issues.length > 0) return issues;
  try {
    compileAjv(schema);
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

export const compileUserSchema: CompileSchema = (schema) => {
  if (typeof schema === 'boolean')
    return () => (schema ? undefined : { path: '', message: 'is not allowed' });
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return 'A schema is an object';
  const [issue] = schemaIssues(schema);
  if (issue !== undefined) return `The schema cannot be used: ${issue}`;
  let validate: ValidateFunction;
  try {
    validate = compileAjv(schema);
  } catch (error) {
    return `The schema cannot be used: ${error instanceof Error ? error.message : String(error)}`;
  }
  return (value) => {
    try {
      if (validate(value)) return;
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return { path: '', message: 'is nested too deeply to be checked' };
    }
    const [first] = validate.errors ?? [];
    return { path: first?.instancePath ?? '', message: first ? inWords(first) : 'is not valid' };
  };
};
