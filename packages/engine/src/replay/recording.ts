/**
 * The external input of a source run, found by execution of a node and never by position: a node in a loop gets
 * the outcome of the same visit and attempt, wherever it is in the log.
 */
import type { RunEvent } from '@gantry/protocol';
import { isTerminalEvent } from '@gantry/protocol';
import { isObject } from '../json.ts';
import { numberAt, textAt } from '../payload.ts';

export interface Recorded {
  /** Position in the source's log. */
  readonly sequence: number;
  readonly event: RunEvent;
}

/** Consequences of other events of the run, so they are never replayed on their own. */
const CONSEQUENCES = new Set(['node.cancelled', 'node.skipped']);
/** Prefixes of events that the run itself causes. */
const OWN_ROOMS = new Set(['run', 'cap', 'workflow', 'replay', 'node', 'variable', 'budget']);

export const executionKey = (nodeId: string, visit: number, attempt: number): string =>
  `${nodeId}\0${visit}\0${attempt}`;

/** Finds the execution of its node that an event belongs to, and its index in that execution. */
export class Executions {
  readonly #current = new Map<string, { key: string; count: number }>();

  /** Counts an event. Undefined when it belongs to no execution. */
  place(event: RunEvent): { key: string; index: number } | undefined {
    if (!isWellFormed(event) || CONSEQUENCES.has(event.type) || isRegistration(event)) return;
    const { nodeId } = event;
    if (nodeId === undefined) return;
    if (event.type === 'node.started') {
      const { payload } = event;
      const key = executionKey(nodeId, numberAt(payload, 'visit', 1), numberAt(payload, 'attempt', 0));
      if (this.#current.get(nodeId)?.key !== key) this.#current.set(nodeId, { key, count: 0 });
    }
    const current = this.#current.get(nodeId);
    return current && { key: current.key, index: current.count++ };
  }

  /** The number of events of the node's current execution so far. */
  countOf(nodeId: string): number {
    return this.#current.get(nodeId)?.count ?? 0;
  }
}

export interface Recording {
  /** Events of one execution of a node, in order. */
  execution(key: string): readonly Recorded[];
  /** External input that concerns no node. */
  readonly unbound: readonly Recorded[];
  /** How the source ended; undefined while it runs. */
  readonly end: RunEvent | undefined;
}

export function recordingOf(events: readonly RunEvent[]): Recording {
  const executions = new Executions();
  const byKey = new Map<string, Recorded[]>();
  const unbound: Recorded[] = [];
  events.forEach((event, sequence) => {
    if (!isWellFormed(event)) return;
    const place = executions.place(event);
    if (place) {
      const known = byKey.get(place.key);
      if (known) known.push({ sequence, event });
      else byKey.set(place.key, [{ sequence, event }]);
    } else if (isFromOutside(event)) unbound.push({ sequence, event });
  });
  const last = events.at(-1);
  return {
    execution: (key) => byKey.get(key) ?? [],
    unbound,
    end: last && isWellFormed(last) && isTerminalEvent(last.type) ? last : undefined,
  };
}

/** An artifact that was stored manually, after its node had ended. */
const isRegistration = ({ type, payload }: RunEvent): boolean =>
  type === 'artifact.created' && payload.registeredBy !== undefined;

function isFromOutside(event: RunEvent): boolean {
  if (isRegistration(event)) return true;
  if (event.nodeId !== undefined) return false;
  if (event.type === 'run.cancelled' || event.type === 'run.resumed') return true;
  if (event.type === 'cap.breached') return textAt(event.payload, 'kind') === 'run-duration';
  return !OWN_ROOMS.has(event.type.slice(0, event.type.indexOf('.')));
}

/** A log may contain anything; replay skips the same events as folding. */
export const isWellFormed = (event: RunEvent): boolean =>
  isObject(event) &&
  typeof event.type === 'string' &&
  typeof event.at === 'number' &&
  isObject(event.payload) &&
  (event.nodeId === undefined || typeof event.nodeId === 'string');
