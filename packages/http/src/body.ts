/** Parses a request body: JSON of limited size and depth, in UTF-8, without prototype pollution or loss of data. */
import { isUtf8 } from 'node:buffer';
import { invalid, type Json, type OpenwopError, readJsonText } from '@gantry/protocol';

export const BODY_DEPTH_MAX = 64;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BRACKETS = { open: [0x5b, 0x7b], close: [0x5d, 0x7d] } as const;

/**
 * Only an escape can encode NUL or a lone surrogate, and only an exponent or hundreds of digits an infinite number.
 * Most bodies contain none of these, so few are traversed.
 */
const SUSPECT = /\\u|__proto__|\d[eE]\+?\d{3}|\d{309}/;

/** The deepest nesting of objects and arrays. Stops counting one above `limit`. */
export function nestingDepth(json: Uint8Array, limit: number): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let i = 0; i < json.length; i++) {
    const byte = json[i];
    if (inString) {
      if (byte === BACKSLASH) i++;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (byte === BRACKETS.open[0] || byte === BRACKETS.open[1]) {
      if (++depth > deepest) deepest = depth;
      if (deepest > limit) return deepest;
    } else if (byte === BRACKETS.close[0] || byte === BRACKETS.close[1]) depth--;
  }
  return deepest;
}

/** A value at any depth that cannot be stored or that is unsafe for prototypes; null if there is none. */
function problemIn(value: Json): string | null {
  if (typeof value === 'string')
    return value.includes('\0') || !value.isWellFormed()
      ? 'has text with a NUL character or a lone surrogate'
      : null;
  if (typeof value === 'number') return Number.isFinite(value) ? null : 'has a number that is too large';
  if (value === null || typeof value !== 'object') return null;
  if (Array.isArray(value)) return firstProblem(value);
  if (Object.hasOwn(value, '__proto__')) return 'has a member named __proto__';
  return firstProblem(Object.keys(value)) ?? firstProblem(Object.values(value));
}

function firstProblem(values: readonly Json[]): string | null {
  for (const value of values) {
    const problem = problemIn(value);
    if (problem !== null) return problem;
  }
  return null;
}

const refused = (reason: string): OpenwopError => invalid(`The body ${reason}.`, { body: reason });

/** An empty body is `undefined`: verbs such as cancel have none. */
export function parseBody(body: Buffer): Json | undefined {
  if (body.length === 0) return undefined;
  if (!isUtf8(body)) throw refused('is not valid UTF-8');
  if (nestingDepth(body, BODY_DEPTH_MAX) > BODY_DEPTH_MAX) {
    throw refused(`is nested deeper than ${BODY_DEPTH_MAX} levels`);
  }
  const text = body.toString('utf8');
  const { value, problem: loss } = read(text);
  const problem = SUSPECT.test(text) ? problemIn(value) : null;
  if (problem !== null) throw refused(problem);
  if (loss) {
    const details = { path: loss.path, problem: loss.problem };
    throw invalid(`Body ${loss.path}: ${loss.problem}.`, details);
  }
  return value;
}

function read(text: string): ReturnType<typeof readJsonText> {
  try {
    return readJsonText(text);
  } catch {
    throw refused('is not valid JSON');
  }
}
