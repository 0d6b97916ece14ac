import { isObject, type Json, type JsonObject, OpenwopError } from '@gantry/protocol';
import { asJson, boundsIssue, own } from '../json.ts';
import type { WorkflowChain } from './chain.ts';

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

/** Matches never overlap and each scans its own text once: linear, whatever the text. */
const TOKEN = /\{\{params\.([a-zA-Z_]\w*)\}\}/g;
const WHOLE = /^\{\{params\.([a-zA-Z_]\w*)\}\}$/;

/** A large value can be named many times, so what substitution adds is bounded. */
const ADDED_MAX = 4_194_304;

/** The parameter that the text is a token of, if it is exactly one token. */
export const wholeToken = (text: string): string | undefined => WHOLE.exec(text)?.[1];

export const hasToken = (text: string): boolean => text.search(TOKEN) !== -1;

export interface Substitution {
  /** A whole token becomes the value with its type; a token inside text becomes text. */
  value(template: string): Json;
  text(template: string): string;
}

export interface SubstitutionRules {
  /** Parameters that are never written down. */
  readonly sensitive: ReadonlySet<string>;
  /** Parameters that are not replaced by nothing when they have no value. */
  readonly required: ReadonlySet<string>;
}

const textOf = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));

/**
 * Puts values in place of `{{params.x}}`, in one pass: a value that looks like a token is data and stays.
 * A parameter without a value is the empty string.
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

export const sensitiveParameter = (parameter: string): OpenwopError =>
  new OpenwopError('sensitive_param_not_deferrable', { details: { parameter } });
