/**
 * Writes the text of a model to the log: the first piece immediately, then pieces gathered for a short time, one commit
 * after another. While the run accepts no events the text is kept, and logged with the record of the call.
 */
import { cutText } from '@gantry/ai';
import type { EmittedEvent } from '@gantry/engine';
import type { Redactor } from '@gantry/protocol/redaction';
import type { NodeCaller } from '@gantry/resources';
import { ChunkRedaction } from '../redaction/chunk-redaction.ts';
import type { Clock } from '../runtime/clock.ts';

export interface ChunkFeedOptions {
  readonly channel: string;
  readonly tell: NodeCaller['tell'];
  readonly redactor: () => Redactor;
  readonly clock: Clock;
  /** How long pieces are gathered; null: each is emitted separately. */
  mergeMs(): number | null;
}

const isText = (piece: string): boolean => piece !== '';

/** Per commit. */
const PIECES_MAX = 100;

export class ChunkFeed {
  readonly #options: ChunkFeedOptions;
  readonly #redaction: ChunkRedaction;
  readonly #whole = new WholePieces();
  /** Not yet being written to the log. */
  #pieces: string[] = [];
  #telling: Promise<void> | undefined;
  #toldAt = Number.NEGATIVE_INFINITY;
  #cancelTimer: (() => void) | undefined;
  #failure: unknown;
  #isOver = false;

  constructor(options: ChunkFeedOptions) {
    this.#options = options;
    this.#redaction = new ChunkRedaction(options.redactor);
  }

  push(text: string): void {
    this.#gather(text, this.#redaction.push(this.#options.channel, text, false));
    this.#proceed();
  }

  #gather(text: string, released: string): void {
    const isEach = this.#options.mergeMs() === null;
    const pieces = isEach ? this.#whole.take(text, released) : [released];
    this.#pieces.push(...pieces.filter(isText));
  }

  /** The events of the remaining text; the last one closes the channel. The caller commits them. */
  async end(meta?: EmittedEvent['payload']): Promise<EmittedEvent[]> {
    await this.#over();
    if (this.#failure !== undefined) throw this.#failure;
    const { channel } = this.#options;
    this.#gather('', this.#redaction.push(channel, '', true));
    const left = this.#texts([...this.#pieces.splice(0), ...this.#whole.rest()].filter(isText));
    const last = left.pop() ?? '';
    const events = left.map((chunk) => chunkEvent(channel, chunk));
    return [...events, chunkEvent(channel, last, true, meta)];
  }

  /** Emits nothing more; waits for a commit in progress. */
  async stop(): Promise<void> {
    this.#pieces = [];
    await this.#over();
  }

  async #over(): Promise<void> {
    this.#isOver = true;
    this.#cancelTimer?.();
    await this.#telling;
  }

  #proceed(): void {
    const { clock, mergeMs } = this.#options;
    const gatherMs = mergeMs();
    // The newest of separate pieces is held back: it may be the last, which closes the channel
    const ready = this.#pieces.length - (gatherMs === null ? 1 : 0);
    if (this.#isOver || this.#telling || this.#cancelTimer || ready <= 0) return;
    const waitMs = this.#toldAt + (gatherMs ?? 0) - clock.elapsedMs();
    if (waitMs <= 0) {
      this.#flush();
      return;
    }
    this.#cancelTimer = clock.after(waitMs, () => {
      this.#cancelTimer = undefined;
      this.#flush();
    });
  }

  #flush(): void {
    const { tell, channel, clock, mergeMs } = this.#options;
    const heldBack = mergeMs() === null ? 1 : 0;
    const pieces = this.#pieces.splice(0, Math.min(PIECES_MAX, this.#pieces.length - heldBack));
    this.#toldAt = clock.elapsedMs();
    const events = this.#texts(pieces).map((chunk) => chunkEvent(channel, chunk));
    this.#telling = tell(events, [])
      .then(
        (told) => {
          // Not emitted: the run accepts no events now
          if (told === null) this.#pieces.unshift(...pieces);
          return told !== null;
        },
        (error: unknown) => {
          this.#failure = error;
          return false;
        },
      )
      .then((isTold) => {
        this.#telling = undefined;
        if (isTold) this.#proceed();
      });
  }

  /** Many waiting pieces are merged, since the number of events in a commit is limited. */
  #texts(pieces: readonly string[]): string[] {
    const isEach = this.#options.mergeMs() === null && pieces.length <= PIECES_MAX;
    return (isEach ? pieces : [pieces.join('')]).flatMap(cutText);
  }
}

/** Restores the original pieces where redaction held back the end of one. */
class WholePieces {
  #given: string[] = [];
  #released = '';

  take(text: string, released: string): string[] {
    this.#given.push(text);
    this.#released += released;
    // Something was redacted: the boundaries of the pieces are lost
    if (!this.#given.join('').startsWith(this.#released)) return this.rest();
    const pieces: string[] = [];
    for (
      let [next] = this.#given;
      next !== undefined && next.length <= this.#released.length;
      [next] = this.#given
    ) {
      pieces.push(next);
      this.#given.shift();
      this.#released = this.#released.slice(next.length);
    }
    return pieces;
  }

  rest(): string[] {
    const rest = this.#released;
    this.#given = [];
    this.#released = '';
    return [rest];
  }
}

export const chunkEvent = (
  channel: string,
  chunk: string,
  isLast = false,
  meta?: EmittedEvent['payload'],
): EmittedEvent => ({ type: 'output.chunk', payload: { chunk, isLast, channel, ...(meta && { meta }) } });
