import { own } from '../json.ts';
import { noVariable } from '../read-paths.ts';
import { completed, failed, type NodeType } from './node-type.ts';

export const getVariable: NodeType = {
  typeId: 'core.getVariable',
  outputs: ['value'],
  prepare({ config, variables, unknown, markSensitive }) {
    const name = String(config.name ?? '');
    if (!variables.has(name)) unknown('name', noVariable(name), name, variables.keys());
    if (variables.get(name)?.sensitive) markSensitive('value');
    return ({ run }) => {
      const value = own(run.variables, name);
      if (value === undefined) return failed('input_unresolved', `The variable ${name} has no value.`);
      return completed({ value });
    };
  },
};
