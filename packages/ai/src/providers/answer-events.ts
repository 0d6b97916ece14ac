/**
 * The events of an answer on the wire, up to its end.
 *
 * I1  Nothing after the end of an answer reaches the library, which would append it: only what may follow the content,
 *     such as the usage, and only once.
 * I2  Libraries collect an event before they read it, so its size is limited.
 */
import { isObject, type JsonObject } from '@gantry/protocol';
import { ModelFailure } from '../model.ts';

/** How a family ends an answer. */
export interface WireEnd {
  /** Matches every event that can end one; others are not parsed. */
  readonly mark: RegExp;
  /** `content`: of later events only `after` counts. `all`: none counts. */
  endOf(event: JsonObject): 'content' | 'all' | undefined;
  /** What of a later event counts. */
  after?(event: JsonObject): JsonObject | undefined;
}

/** The whole answer may be repeated in the last event. */
export const EVENT_CHARS_MAX = 4 * 1024 * 1024;
/** What a server sends after the content is not waited for any longer. */
const AFTER_CHARS_MAX = 64 * 1024;
const DONE = '[DONE]';

export class AnswerEvents {
  readonly #end: WireEnd;
  /** The beginning of the next line. */
  #begun: string[] = [];
  /** Lines of the next event. */
  #data: string[] = [];
  #chars = 0;
  #state: 'content' | 'after' | 'over' = 'content';
  #charsAfter = 0;

  constructor(end: WireEnd) {
    this.#end = end;
  }

  /** The answer is complete: nothing more is passed on. */
  get isOver(): boolean {
    return this.#state === 'over';
  }

  /** The content is complete: what may follow is not needed. */
  get hasContent(): boolean {
    return this.#state !== 'content';
  }

  /** Takes a piece of the stream; returns the events that it completes. */
  push(piece: string): readonly string[] {
    this.#chars += piece.length;
    if (this.#chars > EVENT_CHARS_MAX)
      throw new ModelFailure('broken', 'The provider sent too large an event.');
    this.#begun.push(piece);
    if (!/[\r\n]/.test(piece)) return [];
    // A line feed that belongs to the last carriage return may be in the next piece
    const lines = this.#begun.join('').split(/\r\n|\n|\r(?!$)/);
    const rest = lines.pop() ?? '';
    this.#begun = [rest];
    const events = lines.flatMap((line) => this.#line(line));
    this.#chars = rest.length + this.#data.reduce((sum, { length }) => sum + length, 0);
    return events;
  }

  #line(line: string): readonly string[] {
    if (line.startsWith('data:')) this.#data.push(line.slice(line[5] === ' ' ? 6 : 5));
    if (line !== '' || this.#data.length === 0) return [];
    const data = this.#data.splice(0).join('\n');
    const kept = this.#kept(data);
    return kept === undefined ? [] : [`data: ${kept.replaceAll('\n', '\ndata: ')}\n\n`];
  }

  #kept(data: string): string | undefined {
    if (this.#state === 'over') return undefined;
    if (data.trim() === DONE) {
      this.#state = 'over';
      return undefined;
    }
    if (this.#state === 'content') {
      if (!this.#end.mark.test(data)) return data;
      const event = objectIn(data);
      const end = event && this.#end.endOf(event);
      if (end) this.#state = end === 'all' || this.#end.after?.(event) ? 'over' : 'after';
      return data;
    }
    return this.#after(data);
  }

  #after(data: string): string | undefined {
    this.#charsAfter += data.length;
    const event = objectIn(data);
    const kept = event && this.#end.after?.(event);
    const isLast = event && this.#end.endOf(event) === 'all';
    if (kept || isLast || this.#charsAfter > AFTER_CHARS_MAX) this.#state = 'over';
    return kept && JSON.stringify(kept);
  }
}

function objectIn(text: string): JsonObject | undefined {
  try {
    const value = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
