import type { Json, JsonObject } from '@gantry/protocol';
import { failed, type NodeType } from './node-type.ts';

const KEYS = ['delayMs', 'ms', 'durationMs'];
const DELAY_MS_MAX = 2 ** 31 - 1;
const RANGE = `must be a number of milliseconds from 0 to ${DELAY_MS_MAX}`;

const isDelay = (value: Json | undefined): value is number =>
  typeof value === 'number' && value >= 0 && value <= DELAY_MS_MAX;

export const delay: NodeType = {
  typeId: 'core.delay',
  outputs: [],
  prepare({ node, config, issue }) {
    const key = KEYS.find((name) => Object.hasOwn(config, name));
    if (key && !isDelay(config[key])) issue(key, `${key} ${RANGE}`);
    if (!key && !Object.hasOwn(node.inputs, 'delayMs'))
      issue('', 'A delay requires an input `delayMs`, or `delayMs`, `ms` or `durationMs` in its config');
    return ({ inputs }) => {
      const ms = delayOf(inputs, key ? config[key] : undefined);
      return isDelay(ms)
        ? { kind: 'delayed', ms: Math.ceil(ms) }
        : failed('invalid_input', `delayMs ${RANGE}.`);
    };
  },
};

const delayOf = (inputs: JsonObject, configured: Json | undefined): Json | undefined =>
  Object.hasOwn(inputs, 'delayMs') ? inputs.delayMs : configured;
