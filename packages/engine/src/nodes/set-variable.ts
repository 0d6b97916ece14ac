import type { Json, JsonObject } from '@gantry/protocol';
import { ExpressionError } from '../expression.ts';
import { isObject } from '../json.ts';
import { noVariable } from '../read-paths.ts';
import { scopeFor } from '../scope.ts';
import { failed, type NodeType, type Preparation, type Result, type Visit } from './node-type.ts';

type ReadValue = (visit: Visit) => Json | undefined;

export const setVariable: NodeType = {
  typeId: 'core.setVariable',
  outputs: [],
  prepare(preparation) {
    const { config } = preparation;
    if (isObject(config.variables)) return writeAll(preparation, config.variables);
    const name = declared(preparation, 'name', config.name);
    const read = singleValue(preparation);
    return (visit) => {
      try {
        const value = read(visit);
        if (value === undefined)
          return failed('input_unresolved', `There is no value for the variable ${name}.`);
        return written({ [name]: value });
      } catch (error) {
        if (!(error instanceof ExpressionError)) throw error;
        return failed('expression_failed', error.message);
      }
    };
  },
};

const written = (variables: JsonObject): Result => ({ kind: 'completed', outputs: {}, variables });

function writeAll(preparation: Preparation, variables: JsonObject): (visit: Visit) => Result {
  for (const name of Object.keys(variables)) declared(preparation, `variables/${name}`, name);
  const result = written(variables);
  return () => result;
}

function declared({ variables, issue, unknown }: Preparation, key: string, name: Json | undefined): string {
  if (typeof name === 'string' && variables.has(name)) return name;
  if (typeof name === 'string') unknown(key, noVariable(name), name, variables.keys());
  else issue(key, 'must name a variable of the workflow');
  return '';
}

function singleValue({ node, config, expression, issue }: Preparation): ReadValue {
  if (Object.hasOwn(config, 'expression')) {
    const compiled = expression('expression', config.expression!);
    return ({ inputs, run }) => compiled?.evaluate(scopeFor(compiled, run, { inputs }));
  }
  if (Object.hasOwn(config, 'value')) return () => config.value;
  if (!Object.hasOwn(node.inputs, 'value'))
    issue('', 'Setting a variable requires `value` or `expression` in its config, or an input `value`');
  return ({ inputs }) => inputs.value;
}
