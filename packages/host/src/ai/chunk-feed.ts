/**
 * Writes the text of a model to the log: the first piece immediately, then pieces gathered for a short time, one commit
 * after another. While the run accepts no events the text is kept, and logged with the record of the call.
 */
import { CHUNK_LENGTH_MAX, cutText } from '@gantry/ai';
import type { EmittedEvent } from '@gantry/engine';
import { limiter } from '@gantry/limiter';
import type { Redactor } from '@gantry/protocol/redaction';
import type { NodeCaller } from '@gantry/resources';
import { ChunkRedaction } from '../redaction/chunk-redaction.ts';
import type { Clock } from '../runtime/clock.ts';

export interface ChunkFeedOptions {
  readonly channel: string;
  readonly tenant: string;
  readonly tell: NodeCaller['tell'];
  readonly redactor: () => Redactor;
  readonly clock: Clock;
  /** How long pieces are gathered; null: each is emitted separately. */
  mergeMs(): number | null;
}

const isText = (piece: string): boolean => piece !== '';

/** Per commit. */
const PIECES_MAX = 100;
const EVENTS_MAX = 4;
/** With more than this, text is written at once, and no more is read meanwhile. */
const GATHERED_MAX = EVENTS_MAX * CHUNK_LENGTH_MAX;
/** Texts of less are not counted. */
const LARGE_LENGTH = CHUNK_LENGTH_MAX / 2;
/** Text that is being committed: what one tenant has there delays the commits of others. */
const room = limiter({ max: 8 * GATHERED_MAX, perTenantMax: 2 * GATHERED_MAX });

export class ChunkFeed {
  readonly #options: ChunkFeedOptions;
  readonly #redaction: ChunkRedaction;
  readonly #whole = new WholePieces();
  /** Not yet being written to the log. */
  #pieces: string[] = [];
  /** Of all pieces. */
  #length = 0;
  #telling: Promise<void> | undefined;
  #toldAt = Number.NEGATIVE_INFINITY;
  #cancelTimer: (() => void) | undefined;
  #failure: unknown;
  #isOver = false;

  constructor(options: ChunkFeedOptions) {
    this.#options = options;
    this.#redaction = new ChunkRedaction(options.redactor);
  }

  /** Resolves when more text may follow. */
  push(text: string): Promise<unknown> | undefined {
    this.#gather(text, this.#redaction.push(this.#options.channel, text, false));
    this.#proceed();
    return this.#isFull ? this.#telling : undefined;
  }

  get #isFull(): boolean {
    return this.#length >= GATHERED_MAX;
  }

  #gather(text: string, released: string): void {
    const isEach = this.#options.mergeMs() === null;
    const pieces = isEach ? this.#whole.take(text, released) : [released];
    for (const piece of pieces) if (piece !== '') this.#pieces.push(piece);
    this.#length += released.length;
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
    if (this.#isOver || this.#telling || (this.#cancelTimer && !this.#isFull) || ready <= 0) return;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const waitMs = this.#toldAt + (gatherMs ?? 0) - clock.elapsedMs();
    if (waitMs <= 0 || this.#isFull) {
      this.#flush();
      return;
    }
    this.#cancelTimer = clock.after(waitMs, () => {
      this.#cancelTimer = undefined;
      this.#flush();
    });
  }

  #flush(): void {
    const texts = this.#nextTexts();
    this.#toldAt = this.#options.clock.elapsedMs();
    this.#telling = this.#tell(texts)
      .then(
        (told) => {
          // Not emitted: the run accepts no events now
          if (told === null) this.#putBack(texts);
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

  /** The texts of the next commit. */
  #nextTexts(): string[] {
    const isEach = this.#options.mergeMs() === null;
    const pieces = this.#pieces.splice(0, Math.min(PIECES_MAX, this.#pieces.length - (isEach ? 1 : 0)));
    this.#length -= lengthOf(pieces);
    const texts = this.#texts(pieces);
    this.#putBack(texts.splice(isEach ? PIECES_MAX : EVENTS_MAX));
    return texts;
  }

  #putBack(texts: readonly string[]): void {
    this.#pieces.unshift(...texts);
    this.#length += lengthOf(texts);
  }

  #tell(texts: readonly string[]): ReturnType<ChunkFeedOptions['tell']> {
    const { tell, channel, tenant } = this.#options;
    const events = texts.map((chunk) => chunkEvent(channel, chunk));
    const weight = Math.min(lengthOf(texts), GATHERED_MAX);
    return weight < LARGE_LENGTH
      ? tell(events, [])
      : room.run(tenant, async () => tell(events, []), { weight });
  }

  /** Many waiting pieces are merged, since the number of events in a commit is limited. */
  #texts(pieces: readonly string[]): string[] {
    const isEach = this.#options.mergeMs() === null && pieces.length <= PIECES_MAX;
    return (isEach ? pieces : [pieces.join('')]).flatMap(cutText);
  }
}

const lengthOf = (texts: readonly string[]): number => texts.reduce((sum, { length }) => sum + length, 0);

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
