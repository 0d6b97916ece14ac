import {
  type ChannelDeclaration,
  eventId,
  type Json,
  type JsonObject,
  type RunError,
} from '@gantry/protocol';
import type { Plan, PlanChannel, PlanNode } from '../plan.ts';
import type { ChannelState, Run } from '../run.ts';
import type { Refusal } from '../step.ts';
import { boundsOf, contentOf, isList } from './reducer.ts';

export type AccessSide = 'readers' | 'writers';

/** Why the node may not use the channel. Without a node, the request comes from outside the run. */
export function accessRefusal(
  { name, declaration }: PlanChannel,
  side: AccessSide,
  node: PlanNode | undefined,
  requestedBy: JsonObject = node ? { nodeId: node.id, typeId: node.typeId } : {},
): Refusal | undefined {
  const allowed = allowedOn(declaration.access, side);
  if (!allowed || allowed.some((entry) => matches(entry, node))) return;
  const subject = node ? `The node ${node.id}` : 'Another run';
  return {
    code: 'channel_access_denied',
    message: `${subject} may not ${side === 'readers' ? 'read' : 'write'} the channel ${name}.`,
    details: { channel: name, requestedBy, allowed: side },
  };
}

/** Undefined means everyone. */
function allowedOn(access: ChannelDeclaration['access'], side: AccessSide): readonly string[] | undefined {
  if (access === 'private') return [];
  return access === undefined || access === 'public' ? undefined : access[side];
}

/** An entry is a node id, or a prefix of type ids that ends with `*`. Requests from outside the run match only `*`. */
function matches(entry: string, node: PlanNode | undefined): boolean {
  if (entry === '*') return true;
  if (!node) return false;
  return entry === node.id || (entry.endsWith('*') && node.typeId.startsWith(entry.slice(0, -1)));
}

/**
 * Why the values of the channel cannot be used under the current schema. Older writes are accepted only if the
 * declaration lists their version as compatible and they match the schema. Newer writes are not checked.
 */
export function schemaBreak(channel: PlanChannel, run: Run): Refusal | undefined {
  const { name, declaration } = channel;
  const current = declaration.schemaVersion ?? 1;
  const state = run.channels[name];
  if (!state || state.schemaVersion >= current) return;
  const vouched = declaration.compatibleWith?.includes(state.schemaVersion) === true;
  if (vouched && writesOf(channel, state).every((value) => !channel.check?.(value))) return;
  return {
    code: 'channel_schema_breaking_change',
    message: `The channel ${name} has values of schema version ${state.schemaVersion} that version ${current} cannot read.`,
    details: {
      channel: name,
      currentSchemaVersion: current,
      incompatibleEventVersion: state.schemaVersion,
      incompatibleEventId: eventId(run.facts.runId, state.schemaSeq),
      migrationHint: vouched
        ? 'Declare a new channel, and copy the values into it.'
        : `List ${state.schemaVersion} in compatibleWith if the new schema reads it, else declare a new channel.`,
    },
  };
}

/** The entries of a list are its writes; other channels keep only the result. */
function writesOf({ declaration }: PlanChannel, { value }: ChannelState): readonly Json[] {
  if (!isList(declaration.reducer) || !Array.isArray(value)) return [value];
  const bounds = boundsOf(declaration);
  return value.map((entry) => contentOf(entry, bounds) ?? null);
}

/** Why the node cannot start: it reads a channel without permission, or one whose values are no longer readable. */
export function readRefusal(plan: Plan, node: PlanNode, run: Run): RunError | undefined {
  for (const name of node.channelReads) {
    const channel = plan.channels.get(name);
    const refusal = channel && (accessRefusal(channel, 'readers', node) ?? schemaBreak(channel, run));
    if (refusal) return refusal;
  }
  return;
}

/** The channels as readers see them, including those without writes; undefined when there are none. */
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

/** Channels that only nodes name also appear among the variables, as the protocol specifies. */
export function nodeChannels(plan: Plan, run: Run): JsonObject {
  const found: JsonObject = {};
  for (const { name, origin } of plan.channels.values()) {
    const state = origin === 'node' ? run.channels[name] : undefined;
    if (state) found[name] = state.value;
  }
  return found;
}
