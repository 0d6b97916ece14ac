/**
 * The schema errors of a value. TypeBox examines the whole value before it reports eight errors, in quadratic time
 * for repeated items, so a large value is checked in parts.
 */
import { INSTANT_PATTERN } from './schema.ts';

export interface SchemaError {
  readonly keyword: string;
  readonly schemaPath: string;
  readonly instancePath: string;
  readonly params: object;
  readonly message: string;
}

/** As returned by `Compile`. */
export interface AnyValidator {
  Schema(): unknown;
  Check(value: unknown): boolean;
  Errors(value: unknown): [boolean, SchemaError[]];
}

const VALUES_MAX = 2_000;
const PART_VALUES_MAX = 10_000;
const MEMBERS_MAX = 100;
/** The limit of parts that only failed because members were omitted. */
const ATTEMPTS_MAX = 3;

/** `validator.Errors(value)` in bounded time. Empty if the error is only visible across parts. */
export function schemaErrors(validator: AnyValidator, value: unknown): readonly SchemaError[] {
  if (!isLarge(value)) return validator.Errors(value)[1].map(inWords);
  let attempts = 0;
  for (let from = 0, end = 1; from < end && attempts < ATTEMPTS_MAX; from += MEMBERS_MAX) {
    const part = partOf(value, from);
    end = part.longest;
    if (validator.Check(part.value)) continue;
    attempts++;
    const errors = validator.Errors(part.value)[1].filter((error) => !isOfCut(error, part.cut));
    if (errors.length > 0) return errors.map((error) => placed(inWords(error), part.skipped));
  }
  return [];
}

const inWords = (error: SchemaError): SchemaError =>
  isOfTime(error)
    ? { ...error, message: 'must be an ISO 8601 date and time, as in 2030-12-31T23:59:59Z' }
    : error;

function isOfTime({ keyword, params }: SchemaError): boolean {
  const { format, pattern } = Object(params);
  return keyword === 'format' ? format === 'date-time' : keyword === 'pattern' && pattern === INSTANT_PATTERN;
}

function isLarge(value: unknown): boolean {
  const waiting = [value];
  for (let seen = 0; waiting.length > 0; seen++) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null) continue;
    const members = Object.values(next);
    if (seen + waiting.length + members.length > VALUES_MAX) return true;
    for (const member of members) waiting.push(member);
  }
  return false;
}

interface Part {
  readonly value: unknown;
  /** The length of the longest list. */
  readonly longest: number;
  /** Pointers to lists, with the number of skipped items. */
  readonly skipped: ReadonlyMap<string, number>;
  /** Pointers to objects with omitted members. */
  readonly cut: ReadonlySet<string>;
}

/** Items of long lists from `from`, first members of large objects, and at most `PART_VALUES_MAX` in total. */
function partOf(whole: unknown, from: number): Part {
  let left = PART_VALUES_MAX;
  let longest = 0;
  const skipped = new Map<string, number>();
  const cut = new Set<string>();

  function itemsOf(list: readonly unknown[], at: string): unknown[] {
    longest = Math.max(longest, list.length);
    const start = Math.max(0, Math.min(from, list.length - MEMBERS_MAX));
    if (start > 0) skipped.set(at, start);
    const taken = list.slice(start, start + Math.max(0, Math.min(left, MEMBERS_MAX)));
    if (taken.length < Math.min(list.length, MEMBERS_MAX)) cut.add(at);
    return taken.map((item, index) => copy(item, `${at}/${index}`));
  }
  function copy(value: unknown, at: string): unknown {
    left--;
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return itemsOf(value, at);
    const members = Object.entries(value);
    const taken = members.slice(0, Math.max(0, Math.min(left, MEMBERS_MAX)));
    if (taken.length < members.length) cut.add(at);
    return Object.fromEntries(
      taken.map(([name, member]) => [name, copy(member, `${at}/${pointerStep(name)}`)]),
    );
  }
  const value = copy(whole, '');
  return { value, longest, skipped, cut };
}

const pointerStep = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

/** The member is only missing because it was omitted. */
const isOfCut = ({ keyword, instancePath }: SchemaError, cut: ReadonlySet<string>): boolean =>
  cut.has(instancePath) && keyword !== 'additionalProperties' && keyword !== 'type';

/** The error with the item indexes of the whole value. */
function placed(error: SchemaError, skipped: ReadonlyMap<string, number>): SchemaError {
  if (skipped.size === 0) return error;
  const [, ...steps] = error.instancePath.split('/');
  let at = '';
  let whole = '';
  for (const step of steps) {
    const before = skipped.get(at);
    whole += `/${before === undefined ? step : Number(step) + before}`;
    at += `/${step}`;
  }
  return { ...error, instancePath: whole };
}
