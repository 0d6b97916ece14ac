/**
 * Writes events of running pack code to the log: in order, in batches, and up to a limit. While the run is paused
 * nothing is written: events are kept, and logged with the end of the node at the latest.
 */
import type { EmittedEvent } from '@gantry/engine';
import type { JsonObject } from '@gantry/protocol';
import type { Redactor } from '@gantry/protocol/redaction';
import { cutJson, cutText, type Data } from '@gantry/sandbox';
import { ChunkRedaction } from '../redaction/chunk-redaction.ts';
import { toJson, toObject } from './data.ts';

const BATCH_MAX = 100;
/** Per attempt of a node. */
const EVENTS_MAX = 5_000;
/** Kept until the end of a pause. */
const HELD_MAX = 200;
const HELD_BYTES_MAX = 1024 * 1024;
const LEVELS = new Set(['debug', 'info', 'warn', 'error']);

export class EventFeed {
  readonly #write: Write;
  readonly #chunks: ChunkRedaction;
  #waiting: EmittedEvent[] = [];
  #flushing: Promise<void> | undefined;
  #count = 0;
  /** Size of the events kept during a pause; undefined while there is no pause. */
  #heldBytes: number | undefined;

  constructor(write: Write, redactor: () => Redactor) {
    this.#write = write;
    this.#chunks = new ChunkRedaction(redactor);
  }

  log(level: string, message: string, data?: Data): void {
    const payload: JsonObject = {
      level: LEVELS.has(level) ? level : 'info',
      message: cutText(message),
    };
    if (data !== undefined && data !== null) payload.fields = toObject(cutJson(data));
    // It fails when this process loses the run, which also ends the node.
    this.push({ type: 'log.appended', payload }).catch(() => {});
  }

  /** Both dialects: `{type, data}` and `{kind, payload}`. */
  emit(event: Data): Promise<void> {
    const { type, kind, data, payload, ...rest } = toObject(event);
    const name = typeof type === 'string' ? type : typeof kind === 'string' ? kind : 'event';
    const given = data ?? payload ?? rest;
    if (name === 'output.chunk') return this.#pushChunk(chunkOf(toObject(given)));
    const fields = toObject(cutJson(given));
    return this.push({ type: 'log.appended', payload: { level: 'info', message: cutText(name), fields } });
  }

  #pushChunk(payload: Chunk): Promise<void> {
    if (this.#count >= EVENTS_MAX) return Promise.resolve();
    const chunk = this.#chunks.push(payload.channel, payload.chunk, payload.isLast);
    return this.push({ type: 'output.chunk', payload: { ...payload, chunk } });
  }

  /** The node reports nothing more. */
  end(): Promise<void> {
    for (const [channel, chunk] of this.#chunks.rest()) {
      const payload = { chunk, isLast: false, ...(channel !== undefined && { channel }) };
      void this.push({ type: 'output.chunk', payload });
    }
    return this.drained();
  }

  /** Resolves when the event is in the log, is kept during a pause, or was dropped. */
  push(event: EmittedEvent): Promise<void> {
    this.#count++;
    if (this.#count > EVENTS_MAX || !this.#hasRoom(event)) return Promise.resolve();
    this.#waiting.push(this.#count === EVENTS_MAX ? enough : event);
    return this.drained();
  }

  /** Resolves when all events so far are in the log, or kept during a pause. */
  drained(): Promise<void> {
    this.#flushing ??= this.#flush().finally(() => {
      this.#flushing = undefined;
    });
    return this.#flushing;
  }

  /** Events that must be logged with the end of the node. */
  untold(): { readonly untold?: readonly EmittedEvent[] } {
    return this.#waiting.length > 0 ? { untold: this.#waiting.slice(0, HELD_MAX) } : {};
  }

  async #flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, BATCH_MAX);
      if (!(await this.#write(batch))) {
        this.#heldBytes ??= 0;
        return;
      }
      this.#heldBytes = undefined;
      this.#waiting.splice(0, batch.length);
    }
  }

  #hasRoom(event: EmittedEvent): boolean {
    if (this.#heldBytes === undefined) return true;
    this.#heldBytes += JSON.stringify(event.payload).length;
    return this.#waiting.length < HELD_MAX && this.#heldBytes <= HELD_BYTES_MAX;
  }
}

/** False when the run is paused or no longer waits for the node. */
type Write = (events: readonly EmittedEvent[]) => Promise<boolean>;

const enough: EmittedEvent = {
  type: 'log.appended',
  payload: { level: 'warn', message: `The node reported ${EVENTS_MAX} events; further events are left out.` },
};

type Chunk = JsonObject & { chunk: string; isLast: boolean; channel?: string };

function chunkOf({ chunk, isLast, channel, meta }: JsonObject): Chunk {
  const payload: Chunk = {
    chunk: typeof chunk === 'string' ? chunk : JSON.stringify(chunk ?? ''),
    isLast: isLast === true,
  };
  if (typeof channel === 'string') payload.channel = cutText(channel);
  const { finishReason, usage } = toObject(meta ?? {});
  if (typeof finishReason === 'string')
    payload.meta = { finishReason: cutText(finishReason), ...(usage && { usage: toJson(usage) }) };
  return payload;
}
