/** Spans of a run, derived from its events: the same log always gives the same spans. */

import { hash } from 'node:crypto';
import type { Run } from '@gantry/engine';
import { parseTraceparent } from '@gantry/http';
import { type DebugBundle, isTerminalEvent, PROTOCOL_VERSION, type StoredEvent } from '@gantry/protocol';

export type Span = DebugBundle['spans'][number];

const NODE_ENDS: ReadonlySet<string> = new Set([
  'node.completed',
  'node.failed',
  'node.retried',
  'node.cancelled',
]);

const isoTime = (at: number): string => new Date(at).toISOString();
const spanId = (runId: string, sequence: number): string =>
  hash('sha256', `${runId}.${sequence}`, 'hex').slice(0, 16);

function attemptOf(event: StoredEvent): { typeId: string; attempt: number } {
  const { typeId, attempt } = JSON.parse(event.payload);
  return { typeId: String(typeId), attempt: typeof attempt === 'number' ? attempt : 0 };
}

export function spansOf(run: Run, events: readonly StoredEvent[]): Span[] {
  const { runId, workflowId, owner, traceparent } = run.facts;
  const parent = parseTraceparent(traceparent);
  const traceId = parent?.traceId ?? hash('sha256', runId, 'hex').slice(0, 32);
  const common = { 'openwop.run_id': runId, 'openwop.workflow_id': workflowId };
  const first = events[0];
  if (first === undefined) return [];
  const root: Span = {
    name: 'openwop.run',
    traceId,
    spanId: spanId(runId, first.sequence),
    parentSpanId: parent?.spanId ?? null,
    startedAt: isoTime(first.at),
    endedAt: null,
    attributes: {
      ...common,
      'openwop.protocol_version': PROTOCOL_VERSION,
      'openwop.tenant_id': owner.tenant,
    },
  };
  const spans = [root];
  const open = new Map<string, Span>();
  for (const event of events) {
    if (isTerminalEvent(event.type)) {
      root.endedAt = isoTime(event.at);
      root.status = event.type;
    }
    if (event.nodeId === null) continue;
    if (event.type === 'node.started') {
      const { typeId, attempt } = attemptOf(event);
      const span: Span = {
        name: `openwop.node.${typeId}`,
        traceId,
        spanId: spanId(runId, event.sequence),
        parentSpanId: root.spanId,
        startedAt: isoTime(event.at),
        endedAt: null,
        attributes: {
          ...common,
          'openwop.node_id': event.nodeId,
          'openwop.node_type': typeId,
          'openwop.node_attempt': attempt,
        },
      };
      open.set(event.nodeId, span);
      spans.push(span);
    } else if (NODE_ENDS.has(event.type)) {
      const span = open.get(event.nodeId);
      if (span === undefined) continue;
      span.endedAt = isoTime(event.at);
      span.status = event.type;
      open.delete(event.nodeId);
    }
  }
  return spans;
}
