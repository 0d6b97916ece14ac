import { RE2JS } from 're2js';

export const REGEX_LIMITS = { lengthMax: 512, programMax: 1_000, workMax: 250_000 } as const;

/** A pattern in RE2 syntax: no backreferences and no lookaround, so matching takes linear time. */
export interface Regex {
  readonly pattern: string;
  /** The maximum cost of testing a text of this length, in automaton steps. */
  work(textLength: number): number;
  test(text: string): boolean;
}

/** Throws an `Error` whose message explains the problem with the pattern. */
export function compileRegex(pattern: string): Regex {
  if (pattern.length > REGEX_LIMITS.lengthMax)
    throw new Error(`The pattern is longer than ${REGEX_LIMITS.lengthMax} characters`);
  // RE2JS itself accepts programs of a million instructions, which take 300 ms to compile.
  if (new Estimate(pattern).size() > REGEX_LIMITS.programMax) throw new Error(TOO_LARGE);
  const regex = RE2JS.compile(pattern);
  const program = regex.programSize();
  if (program > 2 * REGEX_LIMITS.programMax) throw new Error(TOO_LARGE);
  return {
    pattern,
    work: (textLength) => program * (textLength + 1),
    test: (text) => regex.test(text),
  };
}

const TOO_LARGE = `The pattern has too many repetitions: it needs more than ${REGEX_LIMITS.programMax} steps`;

/** Counts the characters and classes of a pattern with its repetitions expanded. */
class Estimate {
  readonly #pattern: string;
  readonly #outer: number[] = [];
  #at = 0;
  #sum = 0;
  #atom = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  size(): number {
    while (this.#at < this.#pattern.length) this.#next();
    return this.#outer.reduce((total, sum) => total + sum, this.#sum + this.#atom);
  }

  #next(): void {
    const char = this.#pattern[this.#at++];
    if (char === '(') {
      this.#push(0);
      this.#outer.push(this.#sum);
      this.#sum = 0;
    } else if (char === ')') {
      const inner = this.#sum + this.#atom + 1;
      this.#sum = this.#outer.pop() ?? 0;
      this.#atom = inner;
    } else if (char === '{') this.#atom *= this.#repeats();
    else if (char === '[') this.#push(this.#skipClass());
    else if (char === '\\') this.#push(this.#skipEscape());
    else this.#push(1);
  }

  #push(atom: number): void {
    this.#sum += this.#atom;
    this.#atom = atom;
  }

  /** How often `{n}`, `{n,}` or `{n,m}` repeats; 1 when the brace is only a character. */
  #repeats(): number {
    const end = this.#pattern.indexOf('}', this.#at);
    if (end === -1) return 1;
    const bounds = this.#pattern.slice(this.#at, end).split(',').map(Number);
    const most = Math.max(...bounds);
    return bounds.length <= 2 && most >= 0 ? Math.max(1, most) : 1;
  }

  #skipClass(): number {
    if (this.#pattern[this.#at] === '^') this.#at++;
    if (this.#pattern[this.#at] === ']') this.#at++;
    while (this.#at < this.#pattern.length && this.#pattern[this.#at] !== ']') {
      if (this.#pattern[this.#at] === '\\') this.#at++;
      else if (this.#pattern.startsWith('[:', this.#at)) {
        const end = this.#pattern.indexOf(':]', this.#at);
        if (end !== -1) this.#at = end + 1;
      }
      this.#at++;
    }
    this.#at++;
    return 1;
  }

  #skipEscape(): number {
    const escaped = this.#pattern[this.#at++];
    if (escaped === 'Q') throw new Error('\\Q is not supported in patterns; escape each character');
    if ((escaped === 'p' || escaped === 'P' || escaped === 'x') && this.#pattern[this.#at] === '{') {
      const end = this.#pattern.indexOf('}', this.#at);
      this.#at = end === -1 ? this.#pattern.length : end + 1;
    }
    return 1;
  }
}
