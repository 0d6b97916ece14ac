/** A workflow's own `configurableSchema`: bounded when it is registered, enforced when a run is created. */
import { type JsonObject, OpenwopError, type WorkflowDefinition } from '@gantry/protocol';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { RE2JS } from 're2js';
import { schemaIssues } from './schema-bounds.ts';

const CONFIGURABLE_BYTES_MAX = 16_384;

/** Linear-time patterns: a schema from outside must not be able to stall the loop. */
const regExp = Object.assign((pattern: string) => RE2JS.compile(pattern), { code: 'RE2JS.compile' });

const compiled = new WeakMap<WorkflowDefinition, ValidateFunction>();

function compileSchema(definition: WorkflowDefinition): ValidateFunction | undefined {
  if (!definition.configurableSchema) return undefined;
  const present = compiled.get(definition);
  if (present) return present;
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: false, code: { regExp } });
  const validate = ajv.compile(definition.configurableSchema);
  compiled.set(definition, validate);
  return validate;
}

/** Why this schema can't be taken; empty when it can. */
export function configurableSchemaIssues(definition: WorkflowDefinition): string[] {
  if (!definition.configurableSchema) return [];
  const issues = schemaIssues(definition.configurableSchema);
  if (issues.length > 0) return issues;
  try {
    compileSchema(definition);
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

export function checkConfigurable(definition: WorkflowDefinition, configurable: JsonObject): void {
  const validate = compileSchema(definition);
  if (!validate) return;
  if (JSON.stringify(configurable).length > CONFIGURABLE_BYTES_MAX) {
    throw new OpenwopError('validation_error', {
      message: `\`configurable\` is larger than ${CONFIGURABLE_BYTES_MAX} bytes.`,
      details: { key: 'configurable', maxBytes: CONFIGURABLE_BYTES_MAX },
    });
  }
  if (validate(configurable)) return;
  const [first] = validate.errors ?? [];
  const key = first?.instancePath.slice(1).replaceAll('/', '.') || 'configurable';
  throw new OpenwopError('validation_error', {
    message: `\`configurable\` does not fit the workflow's schema: ${key} ${first?.message ?? 'is not valid'}.`,
    details: { key, rule: first?.keyword ?? 'schema' },
  });
}
