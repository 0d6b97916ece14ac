/** Converts events of the log to frames of a stream. */
import { fold, type Plan, type Run, snapshot } from '@gantry/engine';
import {
  admits,
  eventDocJson,
  eventId,
  fromStored,
  isTerminalEvent,
  type StoredEvent,
  type StreamMode,
} from '@gantry/protocol';

export interface Frame {
  readonly sequence: number;
  readonly event: string;
  /** JSON text on one line. */
  readonly data: string;
  /** The frame as an element of a batch, including its type and sequence. */
  readonly element: string;
  /** The encoded frame, set when it is first sent. Streams that share a frame share these bytes. */
  bytes?: Buffer;
}

export const KEEP_ALIVE = Buffer.from(':keepalive\n\n');

export const frameText = ({ sequence, event, data }: Frame): string =>
  `id: ${sequence}\nevent: ${event}\ndata: ${data}\n\n`;

export function batchText(frames: readonly Frame[]): string {
  const elements = frames.map((frame) => frame.element).join(',');
  return `id: ${frames.at(-1)!.sequence}\nevent: batch\ndata: [${elements}]\n\n`;
}

/** Events that a buffering stream must not delay. */
export const isUrgent = (type: string): boolean => isTerminalEvent(type) || type === 'node.suspended';

/** A frame that is not an event of the log, such as a snapshot. */
function derivedFrame(runId: string, source: StoredEvent, event: string, data: string): Frame {
  const { sequence } = source;
  const element =
    `{"eventId":"${eventId(runId, sequence)}","runId":"${runId}","type":"${event}","sequence":${sequence}` +
    `,"timestamp":"${new Date(source.at).toISOString()}","payload":${data}}`;
  return { sequence, event, data, element };
}

function eventFrame(runId: string, event: StoredEvent): Frame {
  const data = eventDocJson(runId, event);
  return { sequence: event.sequence, event: event.type, data, element: data };
}

/** Converts committed events to frames. Each event is passed once, in order. */
export type Projection = (events: readonly StoredEvent[]) => Frame[];

/** All modes except `values` convert one event at a time. */
export function eventProjection(runId: string, modes: readonly StreamMode[]): Projection {
  const whole = modes.filter((mode) => mode !== 'messages');
  const messages = modes.includes('messages');
  return (events) => {
    const frames: Frame[] = [];
    for (const event of events) {
      if (admits(whole, event.type)) frames.push(eventFrame(runId, event));
      if (messages && event.type === 'output.chunk') {
        frames.push(derivedFrame(runId, event, 'ai.message.chunk', event.payload));
      }
    }
    return frames;
  };
}

interface Folded {
  readonly run: Run;
  snapshot?: Frame;
}

/**
 * Runs as they were after an event, kept while a stream holds one. Streams at the same event share the run
 * and the bytes, since both may be large.
 */
export class FoldedRuns {
  readonly #known = new Map<string, WeakRef<Folded>>();
  readonly #dropped = new FinalizationRegistry<string>((id) => {
    if (!this.#known.get(id)?.deref()) this.#known.delete(id);
  });

  /** Before the first event. */
  begun(runId: string, make: () => Run): Folded {
    return this.#shared(`${runId}:begun`, make);
  }

  after({ run }: Folded, event: StoredEvent): Folded {
    return this.#shared(`${run.facts.runId}:${event.sequence}`, () => fold(run, [fromStored(event)]));
  }

  #shared(id: string, make: () => Run): Folded {
    const known = this.#known.get(id)?.deref();
    if (known) return known;
    const folded = { run: make() };
    this.#known.set(id, new WeakRef(folded));
    this.#dropped.register(folded, id);
    return folded;
  }
}

/**
 * `values`: folds the run from its first event and sends a snapshot for each event that the mode reacts to.
 * After a reconnect it folds up to `resumeAfter` without sending, sends the state at that point, and
 * continues.
 */
export function valuesProjection(
  plan: Plan,
  begun: Folded,
  resumeAfter: number,
  runs: FoldedRuns,
): Projection {
  const { runId } = begun.run.facts;
  let folded = begun;
  return (events) => {
    const frames: Frame[] = [];
    for (const event of events) {
      folded = runs.after(folded, event);
      const wanted =
        event.sequence > resumeAfter ? admits(['values'], event.type) : event.sequence === resumeAfter;
      if (!wanted) continue;
      const { run } = folded;
      folded.snapshot ??= derivedFrame(runId, event, 'state.snapshot', JSON.stringify(snapshot(plan, run)));
      frames.push(folded.snapshot);
    }
    return frames;
  };
}
