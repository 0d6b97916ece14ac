/** A workflow's own `configurableSchema`: bounded when it is registered, enforced when a run is created. */
import { invalid, type JsonObject, type WorkflowDefinition } from '@gantry/protocol';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import { compileAjv, inWords, userSchemaIssues } from './user-schema.ts';

const CONFIGURABLE_BYTES_MAX = 16_384;

const compiled = new WeakMap<WorkflowDefinition, ValidateFunction>();

function compileSchema(definition: WorkflowDefinition): ValidateFunction | undefined {
  if (!definition.configurableSchema) return undefined;
  const present = compiled.get(definition);
  if (present) return present;
  const validate = compileAjv(definition.configurableSchema);
  compiled.set(definition, validate);
  return validate;
}

/** Why this schema cannot be used; empty if it can. */
export const configurableSchemaIssues = ({ configurableSchema }: WorkflowDefinition): string[] =>
  configurableSchema ? userSchemaIssues(configurableSchema) : [];

export function checkConfigurable(definition: WorkflowDefinition, configurable: JsonObject): void {
  const validate = compileSchema(definition);
  if (!validate) return;
  if (JSON.stringify(configurable).length > CONFIGURABLE_BYTES_MAX) {
    throw invalid(`\`configurable\` is larger than ${CONFIGURABLE_BYTES_MAX} bytes.`, {
      key: 'configurable',
      maxBytes: CONFIGURABLE_BYTES_MAX,
    });
  }
  if (validate(configurable)) return;
  const [first] = validate.errors ?? [];
  const key = first?.instancePath.slice(1).replaceAll('/', '.') || 'configurable';
  throw invalid(
    `\`configurable\` does not match the schema of the workflow: ${key} ${first ? inWords(first) : 'is not valid'}.`,
    { key, rule: first?.keyword ?? 'schema' },
  );
}
