/** JSON Schemas that users bring: bounded before they are compiled, linear-time patterns inside. */
import { createRequire } from 'node:module';
import type { CompileSchema } from '@gantry/engine';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import { RE2JS } from 're2js';
import { schemaIssues } from './schema-bounds.ts';

const regExp = Object.assign((pattern: string) => RE2JS.compile(pattern), { code: 'RE2JS.compile' });

const require = createRequire(import.meta.url);

/** Loaded with the first schema: a host without any saves 100 modules. */
const loadAjv = (): typeof import('ajv/dist/2020.js') => require('ajv/dist/2020.js');

/** Throws when the schema is not one. Look at `schemaIssues` first. */
export function compileAjv(schema: object): ValidateFunction {
  const { Ajv2020 } = loadAjv();
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: false, code: { regExp } });
  return ajv.compile(schema);
}

/** Why this schema can't be taken; empty when it can. */
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
    if (validate(value)) return;
    const [first] = validate.errors ?? [];
    return { path: first?.instancePath ?? '', message: first?.message ?? 'is not valid' };
  };
};
