/** What a stream sends: events of the log turned into frames. */
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
  /** The same as an element of a batch, where nothing else says its type and sequence. */
  readonly element: string;
}

export const KEEP_ALIVE = Buffer.from(':keepalive\n\n');

export const frameText = ({ sequence, event, data }: Frame): string =>
  `id: ${sequence}\nevent: ${event}\ndata: ${data}\n\n`;

export function batchText(frames: readonly Frame[]): string {
  const elements = frames.map((frame) => frame.element).join(',');
  return `id: ${frames.at(-1)!.sequence}\nevent: batch\ndata: [${elements}]\n\n`;
}

/** Events that a buffering stream must not hold back. */
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

/** Turns committed events, given in order and once, into frames. */
export type Projection = (events: readonly StoredEvent[]) => Frame[];

/** All modes but `values` look at one event at a time. */
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

/**
 * `values`: folds the run from its first event and sends a snapshot for each event the mode reacts to.
 * After a reconnect it folds silently up to `resumeAfter`, sends the state at that point, and goes on.
 */
export function valuesProjection(plan: Plan, start: Run, resumeAfter: number): Projection {
  const { runId } = start.facts;
  let run = start;
  return (events) => {
    const frames: Frame[] = [];
    for (const event of events) {
      run = fold(run, [fromStored(event)]);
      const wanted =
        event.sequence > resumeAfter ? admits(['values'], event.type) : event.sequence === resumeAfter;
      if (wanted) {
        frames.push(derivedFrame(runId, event, 'state.snapshot', JSON.stringify(snapshot(plan, run))));
      }
    }
    return frames;
  };
}
