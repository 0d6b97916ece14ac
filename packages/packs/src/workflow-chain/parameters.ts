import {
  given,
  isObject,
  type Json,
  type JsonObject,
  OpenwopError,
  type PortValue,
  type WorkflowVariable,
} from '@gantry/protocol';
import { asJson, boundsIssue, own } from '../json.ts';
import type { WorkflowChain } from './chain.ts';

export interface SchemaIssue {
  /** JSON pointer into the value. */
  readonly path: string;
  readonly message: string;
}

/** Compiles a JSON Schema from a pack into a check. The implementation must bound the schema. */
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

function requiredParameters(chain: WorkflowChain): ReadonlySet<string> {
  const required = own(parameterSchema(chain), 'required');
  const names = Array.isArray(required) ? required : [];
  return new Set(names.filter((name) => typeof name === 'string'));
}

const isSensitive = (schema: JsonObject): boolean => own(schema, 'x-openwop-sensitive') === true;

function substitutionRules(chain: WorkflowChain): SubstitutionRules {
  const properties = [...parameterProperties(chain)];
  return {
    sensitive: new Set(properties.filter(([, schema]) => isSensitive(schema)).map(([name]) => name)),
    required: requiredParameters(chain),
  };
}

/** The parameters that are not secret, with their schemas. */
export const openParameters = (chain: WorkflowChain): [string, JsonObject][] =>
  [...parameterProperties(chain)].filter(([, schema]) => !isSensitive(schema));

/** The value with the defaults of its schema, including those of nested objects that are present. */
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

/** The parameters of the chain if none are given. */
export const parameterDefaults = (chain: WorkflowChain): JsonObject =>
  withDefaults(parameterSchema(chain), {});

/** The given parameters with the defaults of the schema, validated; throws `chain_parameter_invalid`. */
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

/** Matches never overlap and each scans its own text once, so the time is linear. */
const TOKEN = /\{\{params\.([a-zA-Z_]\w*)\}\}/g;
const WHOLE = /^\{\{params\.([a-zA-Z_]\w*)\}\}$/;

/** A large value can be used many times, so the added size is bounded. */
const ADDED_MAX = 4_194_304;

/** The parameter name, if the text is exactly one token. */
export const wholeToken = (text: string): string | undefined => WHOLE.exec(text)?.[1];

export const hasToken = (text: string): boolean => text.search(TOKEN) !== -1;

export interface Substitution {
  /** A text that is one token becomes the value with its type; a token inside text becomes text. */
  value(template: string): Json;
  text(template: string): string;
}

export interface SubstitutionRules {
  /** Parameters that are never inserted. */
  readonly sensitive: ReadonlySet<string>;
  /** Parameters that must have a value: they are not replaced with an empty string. */
  readonly required: ReadonlySet<string>;
}

const textOf = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));

/**
 * Replaces `{{params.x}}` with its value, in one pass: a value that looks like a token is data and is kept.
 * A parameter without a value becomes the empty string.
 * @example substitution({ n: 3 }, rules).value('{{params.n}}') // 3
 */
export function substitution(values: JsonObject, rules: SubstitutionRules): Substitution {
  const texts = new Map<string, string>();
  let added = 0;

  const read = (name: string): { value: Json; text: string } => {
    if (rules.sensitive.has(name)) throw sensitiveParameter(name);
    const value = own(values, name);
    if (value === undefined && rules.required.has(name))
      throw new OpenwopError('chain_parameter_invalid', {
        message: `The parameter ${name} is written into the workflow, so it needs a value or a default.`,
        details: { path: `/${name}` },
      });
    const text = texts.get(name) ?? (value === undefined ? '' : textOf(value));
    texts.set(name, text);
    added += text.length;
    if (added > ADDED_MAX)
      throw new OpenwopError('payload_too_large', {
        message: `With its parameters filled in, the chain is larger than ${ADDED_MAX} characters.`,
        details: { maxCharacters: ADDED_MAX },
      });
    return { value: value === undefined ? '' : value, text };
  };

  const text = (template: string): string =>
    template.replace(TOKEN, (_token, name: string) => read(name).text);
  const value = (template: string): Json => {
    const name = wholeToken(template);
    return name === undefined ? text(template) : read(name).value;
  };
  return { value, text };
}

const sensitiveParameter = (parameter: string): OpenwopError =>
  new OpenwopError('sensitive_param_not_deferrable', { details: { parameter } });

type VariablePort = Extract<PortValue, { type: 'variable' }>;

/** How the parameters of a chain are passed to its nodes. */
export interface ParameterBinding {
  /** Values that are inserted now. */
  readonly values: Substitution;
  /** The variables that provide parameters at run time. */
  readonly variables: readonly WorkflowVariable[];
  /** How an input reads a parameter at run time; undefined if its value is inserted. */
  readonly variable: (parameter: string) => VariablePort | undefined;
}

/** Parameters become variables with the names from `nameOf`; without it, they are fixed values. */
export function bindParameters(
  chain: WorkflowChain,
  values: JsonObject,
  nameOf?: (parameter: string) => string,
): ParameterBinding {
  const rules = substitutionRules(chain);
  const open = nameOf ? openParameters(chain) : [];
  const variables = new Map(
    open.map(([parameter, schema]): [string, WorkflowVariable] => {
      const value = own(values, parameter);
      const type = variableType(schema, value);
      const format = own(schema, 'format');
      const variable = {
        name: nameOf?.(parameter) ?? parameter,
        type,
        required: rules.required.has(parameter),
        ...given({ defaultValue: value }),
        ...(type === 'string' && typeof format === 'string' && { format }),
      };
      return [parameter, variable];
    }),
  );
  return {
    values: substitution(values, rules),
    variables: [...variables.values()],
    variable: (parameter) => {
      if (nameOf && rules.sensitive.has(parameter)) throw sensitiveParameter(parameter);
      const variable = variables.get(parameter);
      return variable && readOf(variable);
    },
  };
}

/** The read is optional if there is no default value, unless runs must provide one. */
const readOf = ({ name, required, defaultValue }: WorkflowVariable): VariablePort => {
  const optional = required || defaultValue !== undefined ? undefined : true;
  return { type: 'variable', variableName: name, ...given({ optional }) };
};

const VARIABLE_TYPES = ['string', 'number', 'boolean', 'object', 'array'] as const;

/** The type of a variable by its name in JSON Schema; undefined for other names. */
export const typeNamed = (name: unknown): WorkflowVariable['type'] | undefined =>
  name === 'integer' ? 'number' : VARIABLE_TYPES.find((type) => type === name);

/** If the schema has no type, the value decides. */
const variableType = (schema: JsonObject, value: Json | undefined): WorkflowVariable['type'] =>
  typeNamed(own(schema, 'type')) ?? (Array.isArray(value) ? 'array' : (typeNamed(typeof value) ?? 'string'));

/** `format` is omitted: on a variable it is a hint, in a schema it would be a rule. */
export const typeOnly = (schema: JsonObject): JsonObject => given({ type: own(schema, 'type') });
