import type { Json, JsonObject } from '@gantry/protocol';
import { completed, failed, type NodeType } from './node-type.ts';
import { settingsOf } from './settings.ts';

const isCount = (value: Json | undefined): value is number =>
  Number.isInteger(value) && (value as number) >= 0;

export const loop: NodeType = {
  typeId: 'core.loop',
  outputs: ['index', 'count', 'done', 'item'],
  prepare(preparation) {
    const { config } = preparation;
    const { whole } = settingsOf(preparation);
    whole('count', 0);
    whole('maxIterations', 1);
    return ({ inputs, iteration }) => {
      const items = inputs.items;
      const count = Array.isArray(items) ? items.length : countOf(inputs, config);
      if (!isCount(count))
        return failed('invalid_input', 'A loop requires a list `items` or a whole number `count`.');
      if (iteration >= count) return completed({ done: true, index: count, count });
      const turn: JsonObject = { index: iteration, count, done: false };
      if (Array.isArray(items)) turn.item = items[iteration]!;
      return completed(turn);
    };
  },
};

const countOf = (inputs: JsonObject, config: JsonObject): Json | undefined =>
  Object.hasOwn(inputs, 'count') ? inputs.count : config.count;
