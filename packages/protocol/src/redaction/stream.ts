/** Redacts text that arrives in chunks. Overlapping matches are replaced as one. */
import type { Automaton } from './automaton.ts';
import { type Form, ROOT } from './trie.ts';

/** Positions are relative to the start of the held text. */
interface Span {
  readonly start: number;
  readonly end: number;
  readonly label: string;
  /** Its mark is already emitted: the rest of it is dropped. */
  readonly isMarked: boolean;
}

const PART = { value: '', label: 'part' };

export class FormStream {
  readonly #automaton: Automaton;
  #state = ROOT;
  #held = '';
  /** How much of `#held` is already emitted or replaced. */
  #done = 0;
  #spans: Span[] = [];

  constructor(automaton: Automaton) {
    this.#automaton = automaton;
  }

  push(chunk: string): string {
    const text = this.#held + chunk;
    const found = (end: number, form: Form): void => this.#add(end, form);
    this.#state = this.#automaton.scan(text, this.#held.length, this.#state, found);
    return this.#release(text, text.length - this.#automaton.pending(this.#state));
  }

  end(): string {
    this.#state = ROOT;
    return this.#release(this.#held, this.#held.length);
  }

  /** The text was cut within a form: its beginning is replaced too. */
  endWithin(): string {
    this.#add(this.#held.length, { text: this.#held, secrets: [PART] });
    return this.end();
  }

  /** The mark names the form that starts first; of several, the longest. */
  #add(end: number, { text, secrets: [secret] }: Form): void {
    let span: Span = { start: end - text.length, end, label: secret!.label, isMarked: false };
    for (let last = this.#spans.at(-1); last && last.end > span.start; last = this.#spans.at(-1)) {
      this.#spans.pop();
      if (last.start < span.start || last.isMarked) span = { ...last, end };
    }
    this.#spans.push(span);
  }

  /** Later matches never start before `decided`. */
  #release(text: string, decided: number): string {
    let out = '';
    const open: Span[] = [];
    for (const span of this.#spans) {
      const isDecided = span.start < decided;
      if (isDecided && !span.isMarked) out += text.slice(this.#done, span.start) + markOf(span.label);
      if (isDecided) this.#done = span.end;
      if (span.end > decided) open.push(moved(span, decided, isDecided));
    }
    if (this.#done < decided) out += text.slice(this.#done, decided);
    this.#done = Math.max(this.#done, decided) - decided;
    this.#held = text.slice(decided);
    this.#spans = open;
    return out;
  }
}

const markOf = (label: string): string => `[REDACTED:${label}]`;

const moved = ({ start, end, label }: Span, by: number, isMarked: boolean): Span => ({
  start: start - by,
  end: end - by,
  label,
  isMarked,
});
