import { type Json, type JsonObject, OpenwopError } from '@gantry/protocol';
import { asJson, boundsIssue, isObject, own } from '../json.ts';
import type { WorkflowChain } from './chain.ts';
import type { SubstitutionRules } from './substitute.ts';

export interface SchemaIssue {
  /** JSON pointer into the value. */
  readonly path: string;
  readonly message: string;
}

/** Makes a check of a JSON Schema that a pack brought. Bounding the schema is its own concern. */
export type CompileSchema = (schema: JsonObject) => (value: Json) => readonly SchemaIssue[];

const BOUNDS = { depthMax: 32, sizeMax: 262_144 } as const;

const parameterSchema = (chain: WorkflowChain): JsonObject => {
  const schema = asJson(chain.parameters);
  return isObject(schema) ? schema : {};
};

/** The schemas of the parameters by name. */
export function parameterProperties(chain: WorkflowChain): ReadonlyMap<string, JsonObject> {
  const properties = own(parameterSchema(chain), 'properties');
  const entries = isObject(properties) ? Object.entries(properties) : [];
  return new Map(entries.map(([name, schema]) => [name, isObject(schema) ? schema : {}]));
}

export function requiredParameters(chain: WorkflowChain): ReadonlySet<string> {
  const required = own(parameterSchema(chain), 'required');
  const names = Array.isArray(required) ? required : [];
  return new Set(names.filter((name) => typeof name === 'string'));
}

export const isSensitive = (schema: JsonObject): boolean => own(schema, 'x-openwop-sensitive') === true;

export function substitutionRules(chain: WorkflowChain): SubstitutionRules {
  const properties = [...parameterProperties(chain)];
  return {
    sensitive: new Set(properties.filter(([, schema]) => isSensitive(schema)).map(([name]) => name)),
    required: requiredParameters(chain),
  };
}

/** The value with the defaults of its schema, also inside objects that are present. */
function withDefaults(schema: JsonObject, value: JsonObject): JsonObject {
  const properties = own(schema, 'properties');
  if (!isObject(properties)) return value;
  const filled: JsonObject = { ...value };
  for (const [name, property] of Object.entries(properties)) {
    if (!isObject(property) || name === '__proto__') continue;
    const present = own(value, name);
    const fallback = own(property, 'default');
    if (isObject(present)) filled[name] = withDefaults(property, present);
    else if (present === undefined && fallback !== undefined) filled[name] = fallback;
  }
  return filled;
}

/** The parameters of the chain when none are given. */
export const parameterDefaults = (chain: WorkflowChain): JsonObject =>
  withDefaults(parameterSchema(chain), {});

/** Given parameters with the defaults of the schema, valid under it; throws `chain_parameter_invalid`. */
export function resolveParameters(
  chain: WorkflowChain,
  given: JsonObject,
  compileSchema: CompileSchema,
): JsonObject {
  const issue = boundsIssue(given, BOUNDS);
  if (issue !== undefined) throw invalidParameter({ path: '', message: issue });
  const schema = parameterSchema(chain);
  const values = withDefaults(schema, given);
  const [first] = compileSchema(schema)(values);
  if (first) throw invalidParameter(first);
  return values;
}

const invalidParameter = ({ path, message }: SchemaIssue): OpenwopError =>
  new OpenwopError('chain_parameter_invalid', {
    message: `The parameters do not fit the chain: ${path || 'they'} ${message}.`,
    details: { path },
  });
