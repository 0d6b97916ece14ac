import type { JsonObject } from '@gantry/protocol';
import { copyInto, isObject } from '../json.ts';
import { completed, type NodeType } from './node-type.ts';

export const merge: NodeType = {
  typeId: 'core.merge',
  outputs: ['output'],
  prepare({ config, issue }) {
    const mode = config.mode ?? 'object';
    if (mode !== 'object' && mode !== 'array') issue('mode', 'mode must be "object" or "array"');
    if (mode === 'array') return ({ inputs }) => completed({ output: Object.values(inputs) });
    return ({ inputs }) => completed({ output: mergeInputs(inputs) });
  },
};

/** Object inputs are merged key by key; others are kept under the name of their port. */
function mergeInputs(inputs: JsonObject): JsonObject {
  const merged: JsonObject = {};
  for (const port of Object.keys(inputs)) {
    const value = inputs[port]!;
    if (isObject(value)) copyInto(merged, value);
    else merged[port] = value;
  }
  return merged;
}
