/** Parses a request body: JSON of limited size and depth, in UTF-8, without prototype pollution or loss of data. */
import { isUtf8 } from 'node:buffer';
import {
  invalid,
  type Json,
  NESTING_MAX,
  nestingDepth,
  type OpenwopError,
  readJsonText,
} from '@gantry/protocol';

/**
 * Only an escape can encode NUL or a lone surrogate, and only an exponent or hundreds of digits an infinite number.
 * Most bodies contain none of these, so few are traversed.
 */
const SUSPECT = /\\u|__proto__|\d[eE]\+?\d{3}|\d{309}/;

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
  const text = body.toString('utf8');
  if (nestingDepth(text, NESTING_MAX) > NESTING_MAX)
    throw refused(`is nested deeper than ${NESTING_MAX} levels`);
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
