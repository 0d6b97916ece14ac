/** Spans of a run, derived from its events: the same log always gives the same spans. */

import { hash } from 'node:crypto';
import type { Run } from '@gantry/engine';
import { parseTraceparent } from '@gantry/http';
import {
  type DebugBundle,
  isoTime,
  isTerminalEvent,
  PROTOCOL_VERSION,
  type StoredEvent,
} from '@gantry/protocol';

export type Span = DebugBundle['spans'][number];

const NODE_ENDS: ReadonlySet<string> = new Set([
  'node.completed',
  'node.failed',
  'node.retried',
  'node.cancelled',
]);

const spanId = (runId: string, sequence: number): string =>
  hash('sha256', `${runId}.${sequence}`, 'hex').slice(0, 16);

function attemptOf(event: StoredEvent): { typeId: string; attempt: number } {
  const { typeId, attempt } = JSON.parse(event.payload);
  return { typeId: String(typeId), attempt: typeof attempt === 'number' ? attempt : 0 };
}

export class SpanCollector {
  readonly spans: Span[] = [];
  readonly #run: Run;
  readonly #traceId: string;
  readonly #open = new Map<string, Span>();

  constructor(run: Run) {
    const { runId, traceparent } = run.facts;
    this.#run = run;
    this.#traceId = parseTraceparent(traceparent)?.traceId ?? hash('sha256', runId, 'hex').slice(0, 32);
  }

  /** Accepts events in order. Returns the span that this event opens. */
  add(event: StoredEvent): Span | undefined {
    const isFirst = this.spans.length === 0;
    if (isFirst) this.spans.push(this.#rootSpan(event));
    const root = this.spans[0]!;
    if (isTerminalEvent(event.type)) end(root, event);
    if (event.nodeId === null) return isFirst ? root : undefined;
    if (event.type === 'node.started') {
      const span = this.#nodeSpan(root, event.nodeId, event);
      this.#open.set(event.nodeId, span);
      this.spans.push(span);
      return span;
    }
    const span = NODE_ENDS.has(event.type) ? this.#open.get(event.nodeId) : undefined;
    if (span) end(span, event);
    if (span) this.#open.delete(event.nodeId);
    return isFirst ? root : undefined;
  }

  #rootSpan(first: StoredEvent): Span {
    const { runId, owner, traceparent } = this.#run.facts;
    return {
      name: 'openwop.run',
      traceId: this.#traceId,
      spanId: spanId(runId, first.sequence),
      parentSpanId: parseTraceparent(traceparent)?.spanId ?? null,
      startedAt: isoTime(first.at),
      endedAt: null,
      attributes: {
        ...this.#common(),
        'openwop.protocol_version': PROTOCOL_VERSION,
        'openwop.tenant_id': owner.tenant,
      },
    };
  }

  #nodeSpan({ spanId: parentSpanId }: Span, nodeId: string, event: StoredEvent): Span {
    const { typeId, attempt } = attemptOf(event);
    return {
      name: `openwop.node.${typeId}`,
      traceId: this.#traceId,
      spanId: spanId(this.#run.facts.runId, event.sequence),
      parentSpanId,
      startedAt: isoTime(event.at),
      endedAt: null,
      attributes: {
        ...this.#common(),
        'openwop.node_id': nodeId,
        'openwop.node_type': typeId,
        'openwop.node_attempt': attempt,
      },
    };
  }

  #common() {
    const { runId, workflowId } = this.#run.facts;
    return { 'openwop.run_id': runId, 'openwop.workflow_id': workflowId };
  }
}

function end(span: Span, { at, type }: StoredEvent): void {
  span.endedAt = isoTime(at);
  span.status = type;
}
