import { completed, type NodeType } from './node-type.ts';

export const start: NodeType = {
  typeId: 'core.start',
  outputs: 'variables',
  prepare({ variables, markSensitive }) {
    for (const variable of variables.values()) if (variable.sensitive) markSensitive(variable.name);
    return ({ run }) => completed({ ...run.variables });
  },
};
