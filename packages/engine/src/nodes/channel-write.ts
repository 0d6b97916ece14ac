import type { Json } from '@gantry/protocol';
import { isTtl } from '../channels/compile-channels.ts';
import { isReducer } from '../channels/reducer.ts';
import { writeChannelFrom } from '../channels/write.ts';
import { completeNode, failNode } from '../node-run.ts';
import { failed, type NodeType, type Preparation, type Visit } from './node-type.ts';

export const channelWrite: NodeType = {
  typeId: 'core.channelWrite',
  outputs: [],
  prepare(preparation) {
    const { config, issue } = preparation;
    const name = config.channelName;
    if (typeof name !== 'string') issue('channelName', 'channelName must name a channel');
    if (config.reducer !== undefined && !(typeof config.reducer === 'string' && isReducer(config.reducer)))
      issue('reducer', 'reducer must be a reducer of the protocol, or vendor.<org>.<name>');
    if (config.ttlMs !== undefined && !isTtl(config.ttlMs))
      issue('ttlMs', 'ttlMs must be a whole number of milliseconds, at most a year');
    const read = readerOf(preparation);
    return (visit) => {
      const value = read(visit);
      if (value === undefined)
        return failed('input_unresolved', `There is no value for the channel ${String(name)}.`);
      return {
        kind: 'acts',
        act(step, node) {
          const refusal = writeChannelFrom(step, node, String(name), value);
          if (refusal) failNode(step, node, refusal, false);
          else completeNode(step, node, {});
        },
      };
    };
  },
};

/** An input `value` takes precedence over `value` in the config. */
function readerOf({ node, config, issue }: Preparation): (visit: Visit) => Json | undefined {
  if (Object.hasOwn(node.inputs, 'value')) return ({ inputs }) => inputs.value;
  if (Object.hasOwn(config, 'value')) return () => config.value;
  issue('', 'Writing to a channel requires `value` in its config, or an input `value`');
  return () => undefined;
}
