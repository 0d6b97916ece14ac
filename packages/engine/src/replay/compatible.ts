/** Whether a run that was recorded under one definition can continue under another. Pure. */
import type { JsonObject, RunEvent } from '@gantry/protocol';
import { asJson, deepEqual } from '../json.ts';
import { textAt } from '../payload.ts';
import type { Plan } from '../plan.ts';

/**
 * Describes the first relevant difference; undefined when there is none. Parts that the events do not reach may
 * differ: nodes that have not begun, and outgoing edges of nodes that have not settled.
 */
export function recordConflict(from: Plan, to: Plan, events: readonly RunEvent[]): string | undefined {
  const begun = new Set(events.flatMap(({ nodeId }) => nodeId ?? []));
  for (const nodeId of begun) {
    const [before, after] = [from.nodes.get(nodeId), to.nodes.get(nodeId)];
    if (!after) return `node ${nodeId} has run and was removed`;
    if (before?.typeId !== after.typeId) return `node ${nodeId} has run and has another type now`;
  }
  const settled = events.filter(({ type }) => SETTLED.has(type)).flatMap(({ nodeId }) => nodeId ?? []);
  const moved = settled.find((nodeId) => !isSame(edgesOf(from, nodeId), edgesOf(to, nodeId)));
  if (moved !== undefined) return `node ${moved} has ended and other edges leave it`;
  return variableConflict(from, to) ?? channelConflict(from, to, events);
}

const SETTLED: ReadonlySet<string> = new Set(['node.completed', 'node.failed', 'node.skipped']);

const isSame = (left: unknown, right: unknown): boolean => deepEqual(asJson(left), asJson(right));

const edgesOf = ({ definition }: Plan, nodeId: string) =>
  definition.edges
    .filter(({ sourceNodeId }) => sourceNodeId === nodeId)
    .sort((left, right) => (left.id < right.id ? -1 : 1));

function variableConflict(from: Plan, to: Plan): string | undefined {
  const changed = [...from.variables.values()].find(({ name, type, sensitive = false }) => {
    const after = to.variables.get(name);
    return after?.type !== type || (after.sensitive ?? false) !== sensitive;
  });
  return changed && `variable ${changed.name} was removed or has another declaration`;
}

function channelConflict(from: Plan, to: Plan, events: readonly RunEvent[]): string | undefined {
  const written = events.filter(({ type }) => type === 'channel.written');
  const changed = written
    .map(({ payload }) => textAt(payload, 'channel'))
    .find((name) => !isSame(from.channels.get(name)?.declaration, to.channels.get(name)?.declaration));
  return changed === undefined ? undefined : `channel ${changed} was written and has another declaration`;
}

/** The events as if the run had begun with the defaults that are new in `to`; given values stay. */
export function withNewVariables(from: Plan, to: Plan, events: readonly RunEvent[]): RunEvent[] {
  const [started, ...rest] = events;
  const added = [...to.variables.values()].flatMap(({ name, defaultValue }) =>
    defaultValue === undefined || from.variables.get(name)?.defaultValue !== undefined
      ? []
      : [[name, asJson(defaultValue)] as const],
  );
  if (started?.type !== 'run.started' || added.length === 0) return [...events];
  const { sealed, payload } = started;
  const variables = {
    ...Object.fromEntries(added),
    ...(Object(sealed?.variables ?? payload.inputs) as JsonObject),
  };
  return [{ ...started, sealed: { ...sealed, variables } }, ...rest];
}

/** The sequence at which the last visit of a failed node begins: everything before it is kept. */
export function repairPoint(events: readonly RunEvent[], failedNodeId: string): number | undefined {
  const started = events.findLastIndex(
    ({ type, nodeId, payload }) =>
      type === 'node.started' && nodeId === failedNodeId && (payload.attempt ?? 0) === 0,
  );
  return started < 0 ? undefined : started;
}
