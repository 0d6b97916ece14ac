import type { Json, JsonObject, WorkflowVariable } from '@gantry/protocol';
import { isObject, own } from '../json.ts';
import type { WorkflowChain } from './chain.ts';
import { type ChainExpansion, checkExpandable, type ExpandOptions, expandWith } from './expand.ts';
import { expansionPrefix } from './node-ids.ts';
import {
  isSensitive,
  parameterProperties,
  requiredParameters,
  resolveParameters,
  substitutionRules,
} from './parameters.ts';
import type { ParameterBinding, VariablePort } from './ports.ts';
import { sensitiveParameter, substitution } from './substitute.ts';

/**
 * Parameters become variables of the workflow. An input that is exactly one parameter reads its variable;
 * every other place has no binding at run time and is written down now, as in `expandChain`. A secret
 * parameter may stand in neither, so its use is refused.
 */
export function expandDeferred(
  chain: WorkflowChain,
  parameters: JsonObject,
  options: ExpandOptions,
): ChainExpansion {
  checkExpandable(chain, options);
  const values = resolveParameters(chain, parameters, options.compileSchema);
  const prefix = expansionPrefix(chain.chainId, options.expansionId);
  const expansion = expandWithVariables(chain, values, (parameter) => prefix + parameter, options);
  const open = [...parameterProperties(chain)].filter(([, schema]) => !isSensitive(schema));
  return {
    ...expansion,
    deferral: {
      configurableProperties: Object.fromEntries(open.map(([name, schema]) => [name, typeOnly(schema)])),
      aliases: Object.fromEntries(open.map(([name]) => [name, prefix + name])),
    },
  };
}

/** Expands a checked chain with its parameters as variables under the given names. */
export function expandWithVariables(
  chain: WorkflowChain,
  values: JsonObject,
  nameOf: (parameter: string) => string,
  options: Pick<ExpandOptions, 'expansionId' | 'children'>,
): ChainExpansion {
  const variables = parameterVariables(chain, values, nameOf);
  const known = new Map(variables.map((variable) => [variable.name, variable]));
  const rules = substitutionRules(chain);
  const binding: ParameterBinding = {
    values: substitution(values, rules),
    variable: (parameter) => {
      if (rules.sensitive.has(parameter)) throw sensitiveParameter(parameter);
      const variable = known.get(nameOf(parameter));
      return variable && readOf(variable);
    },
  };
  return expandWith(chain, binding, variables, options);
}

/** Without a value there is nothing to read, unless a run must bring it. */
const readOf = ({ name, required, defaultValue }: WorkflowVariable): VariablePort =>
  required || defaultValue !== undefined
    ? { type: 'variable', variableName: name }
    : { type: 'variable', variableName: name, optional: true };

function parameterVariables(
  chain: WorkflowChain,
  values: JsonObject,
  nameOf: (parameter: string) => string,
): WorkflowVariable[] {
  const required = requiredParameters(chain);
  return [...parameterProperties(chain)]
    .filter(([, schema]) => !isSensitive(schema))
    .map(([parameter, schema]) => {
      const value = own(values, parameter);
      const type = variableType(schema, value);
      const format = own(schema, 'format');
      return {
        name: nameOf(parameter),
        type,
        required: required.has(parameter),
        ...(value !== undefined && { defaultValue: value }),
        ...(type === 'string' && typeof format === 'string' && { format }),
      };
    });
}

const TYPES: Readonly<Record<string, WorkflowVariable['type']>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  object: 'object',
  array: 'array',
};

/** If the schema has no type, the value decides. */
function variableType(schema: JsonObject, value: Json | undefined): WorkflowVariable['type'] {
  const declared = own(schema, 'type');
  if (typeof declared === 'string' && Object.hasOwn(TYPES, declared)) return TYPES[declared]!;
  if (Array.isArray(value)) return 'array';
  if (isObject(value)) return 'object';
  return TYPES[typeof value] ?? 'string';
}

/** `format` stays behind: on a variable it is advice, in a schema it would be a rule. */
function typeOnly(schema: JsonObject): JsonObject {
  const type = own(schema, 'type');
  return type === undefined ? {} : { type };
}
