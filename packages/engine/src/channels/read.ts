import type { JsonObject, RunError } from '@gantry/protocol';
import type { Plan, PlanNode } from '../plan.ts';
import type { Run } from '../run.ts';
import { accessRefusal } from './access.ts';
import { schemaBreak } from './schema-version.ts';

/** Why the node cannot start: it reads a channel that it may not, or whose values nobody can read any more. */
export function readRefusal(plan: Plan, node: PlanNode, run: Run): RunError | undefined {
  for (const name of node.channelReads) {
    const channel = plan.channels.get(name);
    const refusal = channel && (accessRefusal(channel, 'readers', node) ?? schemaBreak(channel, run));
    if (refusal) return refusal;
  }
  return;
}

/** What readers see of all channels, also of those without writes; undefined when there are none. */
export function channelsView(plan: Plan, run: Run): JsonObject | undefined {
  const view: JsonObject = {};
  for (const { name, initial } of plan.channels.values()) if (initial !== undefined) view[name] = initial;
  for (const name in run.channels) view[name] = run.channels[name]!.value;
  for (const name in view) {
    if (!plan.channels.get(name)?.declaration.sensitive) continue;
    const shown = plan.mask(view[name]!);
    if (shown === undefined) delete view[name];
    else view[name] = shown;
  }
  return plan.channels.size > 0 || Object.keys(view).length > 0 ? view : undefined;
}

/** Channels that only nodes name are also found among the variables, as the protocol has it. */
export function nodeChannels(plan: Plan, run: Run): JsonObject {
  const found: JsonObject = {};
  for (const { name, origin } of plan.channels.values()) {
    const state = origin === 'node' ? run.channels[name] : undefined;
    if (state) found[name] = state.value;
  }
  return found;
}
