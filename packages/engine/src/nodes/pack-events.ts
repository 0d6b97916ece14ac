import type { EmittedEvent, JsonObject, RunEvent } from '@gantry/protocol';
import type { Draft } from '../apply.ts';
import { tellThreshold } from '../budget/budget.ts';
import { close } from '../interrupt/close.ts';
import { BY_ENVELOPE } from '../interrupt/interrupt.ts';
import { jsonSize } from '../json.ts';
import type { PlanNode } from '../plan.ts';
import { emitCaused, record, type Step } from '../step.ts';

/** Limits that keep pack code from filling the log: further or larger events are dropped. */
const EVENTS_MAX = 200;
const EVENT_SIZE_MAX = 65_536;

/** Events with closed payloads; the event itself names the node. */
const CLOSED: ReadonlySet<EmittedEvent['type']> = new Set([
  'connector.authorized',
  'connector.auth_expired',
  'budget.consumed',
]);

/** Records events of pack code. The host sets the node, whatever the event says. */
export function tell(step: Step, node: PlanNode, events: readonly EmittedEvent[]): void {
  for (const { type, payload, ...beside } of events.slice(0, EVENTS_MAX)) {
    if (jsonSize(payload, EVENT_SIZE_MAX) > EVENT_SIZE_MAX) continue;
    const logged: JsonObject = CLOSED.has(type) ? payload : { ...payload, nodeId: node.id };
    if (type === 'output.chunk') logged.runId = step.run.facts.runId;
    const open = openCall(step, payload);
    if (type === 'agent.toolReturned') emitCaused(step, open, { type, nodeId: node.id, payload: logged });
    else if (type !== 'agent.toolCalled' || open === undefined)
      record(step, { type, at: step.now, nodeId: node.id, payload: logged, ...beside });
    if (type === 'budget.consumed') tellThreshold(step, node, payload);
    if (beside.sealed) wakeWaiting(step, beside.sealed.envelope);
  }
}

/**
 * Wakes all nodes that wait for an envelope of that kind: the first one takes it, and the others wait for the
 * rest of their time.
 */
function wakeWaiting(step: Step, envelopeType: string): void {
  for (const [nodeId, interrupt] of [...step.run.interrupts]) {
    const waiting = step.plan.nodes.get(nodeId);
    if (!waiting || interrupt.memo?.envelopeType !== envelopeType) continue;
    const { expiresAt } = interrupt;
    const left = expiresAt === undefined ? {} : { leftMs: Math.max(0, expiresAt - step.now) };
    close(step, waiting, { interrupt, value: { envelopeType, ...left }, by: BY_ENVELOPE });
  }
}

/** The sequence of the event that began the call, unless it has returned. */
const openCall = ({ run }: Step, { callId }: JsonObject): number | undefined =>
  typeof callId === 'string' && run.toolCalls && Object.hasOwn(run.toolCalls, callId)
    ? run.toolCalls[callId]
    : undefined;

/**
 * The maximum number of open tool calls. They are kept so that a return names its call as its cause, and a
 * repeated call is logged once. Interrupted calls stay open; beyond this limit the oldest are dropped.
 */
const OPEN_MAX = 256;

export function foldToolCall(run: Draft, { type }: RunEvent, { callId }: JsonObject): void {
  if (typeof callId !== 'string') return;
  if (type !== 'agent.toolCalled' && type !== 'agent.toolReturned') return;
  const { [callId]: _, ...others } = run.toolCalls ?? {};
  const open = type === 'agent.toolCalled' ? { ...bounded(others), [callId]: run.nextSeq - 1 } : others;
  if (Object.keys(open).length > 0) run.toolCalls = open;
  else delete run.toolCalls;
}

function bounded(open: { readonly [callId: string]: number }): { readonly [callId: string]: number } {
  const entries = Object.entries(open);
  return entries.length < OPEN_MAX ? open : Object.fromEntries(entries.slice(1 - OPEN_MAX));
}
