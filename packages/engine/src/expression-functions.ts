/** The operators and functions of the expression language. Each one charges for the data it accesses. */
import { type Json, type JsonObject, meant } from '@gantry/protocol';
import { includesText, indexOfText, isObject, own } from './json.ts';

/** The only error that evaluation throws. Its message never contains data of the run. */
export class ExpressionError extends Error {
  /** Always ends the evaluation; the language cannot ignore it. */
  readonly final: boolean;

  constructor(message: string, final = false) {
    super(message);
    this.name = 'ExpressionError';
    this.final = final;
  }
}

/** The remaining budget of steps. One meter is shared by everything that is evaluated for one node at one time. */
export interface Meter {
  stepsLeft: number;
}

export interface Frame {
  readonly roots: { readonly [name: string]: Json };
  readonly locals: Json[];
  readonly meter: Meter;
}

export type Evaluate = (frame: Frame) => Json;
type Native = (frame: Frame, target: Json, args: readonly Json[]) => Json;

export const fail = (message: string): never => {
  throw new ExpressionError(message);
};

export function pay({ meter }: { readonly meter: Meter }, steps: number): void {
  meter.stepsLeft -= steps;
  if (meter.stepsLeft < 0) throw new ExpressionError('The expression exceeds the limit of steps.', true);
}

/** A step stands for about ten nanoseconds, or for sixteen characters that are copied or compared. */
const payText = (frame: Frame, length: number): void => pay(frame, 1 + (length >> 4));

/** Listing the keys of a large object takes about 170 ns per key. */
export const payKeys = (frame: Frame, count: number): void => pay(frame, 1 + 12 * count);

export function truth(frame: Frame, value: Json): boolean {
  pay(frame, 1);
  return typeof value === 'boolean' ? value : fail('A condition must be true or false.');
}

const text = (value: Json | undefined): string =>
  typeof value === 'string' ? value : fail('This operation requires text.');

const finite = (value: number): number =>
  Number.isFinite(value) ? value : fail('The result is not a number.');

/** Charges during the comparison, so that it never costs more than was charged. */
function equal(frame: Frame, left: Json, right: Json, depth = 0): boolean {
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) {
    payText(frame, typeof left === 'string' && typeof right === 'string' ? left.length : 0);
    return left === right;
  }
  if (depth > 400) return fail('The values are nested too deeply to be compared.');
  if (Array.isArray(left) && Array.isArray(right)) {
    pay(frame, 1);
    return left.length === right.length && left.every((item, i) => equal(frame, item, right[i]!, depth + 1));
  }
  if (Array.isArray(left) || Array.isArray(right)) return false;
  const keys = Object.keys(left);
  const others = Object.keys(right);
  payKeys(frame, keys.length + others.length);
  if (keys.length !== others.length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && equal(frame, left[key]!, right[key]!, depth + 1));
}

function add(frame: Frame, left: Json, right: Json): Json {
  if (typeof left === 'number' && typeof right === 'number') {
    pay(frame, 1);
    return finite(left + right);
  }
  if (typeof left === 'string' && typeof right === 'string') {
    payText(frame, left.length + right.length);
    return left + right;
  }
  if (Array.isArray(left) && Array.isArray(right)) {
    pay(frame, 1 + left.length + right.length);
    return [...left, ...right];
  }
  return fail('`+` requires two numbers, two texts or two lists.');
}

function contains(frame: Frame, item: Json, collection: Json): boolean {
  if (Array.isArray(collection)) return collection.some((member) => equal(frame, member, item));
  if (!isObject(collection)) return fail('`in` requires a list or a map.');
  pay(frame, 1);
  return typeof item === 'string' && Object.hasOwn(collection, item);
}

function compare(frame: Frame, left: Json, right: Json): number {
  if (typeof left === 'number' && typeof right === 'number') {
    pay(frame, 1);
    return left - right;
  }
  if (typeof left === 'string' && typeof right === 'string') {
    payText(frame, Math.min(left.length, right.length));
    return left < right ? -1 : left > right ? 1 : 0;
  }
  return fail('Only two numbers or two texts can be ordered.');
}

const arithmetic =
  (apply: (left: number, right: number) => number) =>
  (frame: Frame, left: Json, right: Json): Json => {
    pay(frame, 1);
    if (typeof left !== 'number' || typeof right !== 'number')
      return fail('Arithmetic requires two numbers.');
    return finite(apply(left, right));
  };

export const OPERATORS: ReadonlyMap<string, (frame: Frame, left: Json, right: Json) => Json> = new Map([
  ['==', (frame: Frame, left: Json, right: Json) => equal(frame, left, right)],
  ['!=', (frame: Frame, left: Json, right: Json) => !equal(frame, left, right)],
  ['<', (frame: Frame, left: Json, right: Json) => compare(frame, left, right) < 0],
  ['<=', (frame: Frame, left: Json, right: Json) => compare(frame, left, right) <= 0],
  ['>', (frame: Frame, left: Json, right: Json) => compare(frame, left, right) > 0],
  ['>=', (frame: Frame, left: Json, right: Json) => compare(frame, left, right) >= 0],
  ['in', contains],
  ['+', add],
  ['-', arithmetic((left, right) => left - right)],
  ['*', arithmetic((left, right) => left * right)],
  ['/', arithmetic((left, right) => left / right)],
  ['%', arithmetic((left, right) => left % right)],
]);

function size(frame: Frame, value: Json): number {
  pay(frame, 1);
  if (Array.isArray(value)) return value.length;
  if (isObject(value)) {
    const keys = Object.keys(value).length;
    payKeys(frame, keys);
    return keys;
  }
  const string = text(value);
  payText(frame, 16 * string.length);
  let count = 0;
  for (const _ of string) count++;
  return count;
}

const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
const WHOLE = /^[+-]?\d+$/;

function toNumber(frame: Frame, value: Json, form: RegExp): number {
  pay(frame, 1);
  if (typeof value === 'number') return value;
  const string = text(value);
  if (string.length > 40 || !form.test(string)) return fail('This text is not a number.');
  return finite(Number(string));
}

function toInteger(frame: Frame, value: Json): number {
  const number = Math.trunc(toNumber(frame, value, WHOLE));
  return typeof value === 'number' || Number.isSafeInteger(number)
    ? number
    : fail('This integer is too large.');
}

function toText(frame: Frame, value: Json): string {
  if (typeof value === 'object') return fail('Only text, numbers and booleans can be converted to text.');
  const string = String(value);
  payText(frame, string.length);
  return string;
}

function toBoolean(frame: Frame, value: Json): boolean {
  pay(frame, 1);
  if (typeof value === 'boolean') return value;
  if (value === 'true' || value === 'false') return value === 'true';
  return fail('Only booleans and the texts true and false can be converted to a boolean.');
}

export const FUNCTIONS: ReadonlyMap<string, Native> = new Map<string, Native>([
  ['size', size],
  ['string', toText],
  ['double', (frame, value) => toNumber(frame, value, DECIMAL)],
  ['int', toInteger],
  ['bool', toBoolean],
]);

/** Only letters A to Z, as the names `lowerAscii` and `upperAscii` say. */
function recase(frame: Frame, value: Json, first: number, shift: number): string {
  const string = text(value);
  pay(frame, 1 + string.length);
  let result = '';
  for (let i = 0; i < string.length; i++) {
    const code = string.charCodeAt(i);
    result += String.fromCharCode(code >= first && code < first + 26 ? code + shift : code);
  }
  return result;
}

function trim(frame: Frame, value: Json): string {
  payText(frame, text(value).length);
  return text(value).trim();
}

function split(frame: Frame, value: Json, separator: string): string[] {
  const string = text(value);
  payText(frame, 4 * (string.length + separator.length));
  if (separator === '') return fail('split() requires a separator.');
  const parts: string[] = [];
  let from = 0;
  for (let at = indexOfText(string, separator, 0); at !== -1; at = indexOfText(string, separator, from)) {
    payText(frame, separator.length * 8);
    parts.push(string.slice(from, at));
    from = at + separator.length;
  }
  parts.push(string.slice(from));
  return parts;
}

function join(frame: Frame, value: Json, separator: string): string {
  if (!Array.isArray(value)) return fail('join() requires a list of texts.');
  for (const part of value) payText(frame, text(part).length + separator.length);
  return value.join(separator);
}

/** The search for long parts uses our own algorithm, about four times as slow as the built-in one. */
function lookup(frame: Frame, value: Json, part: Json | undefined): [string, string] {
  const pair: [string, string] = [text(value), text(part)];
  payText(frame, (pair[0].length + pair[1].length) * (pair[1].length < 8 ? 1 : 4));
  return pair;
}

export const METHODS: ReadonlyMap<string, { readonly arity: number; readonly run: Native }> = new Map<
  string,
  { arity: number; run: Native }
>([
  ['size', { arity: 0, run: size }],
  ['trim', { arity: 0, run: trim }],
  ['lowerAscii', { arity: 0, run: (frame, value) => recase(frame, value, 65, 32) }],
  ['upperAscii', { arity: 0, run: (frame, value) => recase(frame, value, 97, -32) }],
  ['contains', { arity: 1, run: (frame, value, [part]) => includesText(...lookup(frame, value, part)) }],
  ['startsWith', { arity: 1, run: (frame, value, [part]) => starts(...lookup(frame, value, part)) }],
  ['endsWith', { arity: 1, run: (frame, value, [part]) => ends(...lookup(frame, value, part)) }],
  ['split', { arity: 1, run: (frame, value, [separator]) => split(frame, value, text(separator)) }],
  ['join', { arity: 1, run: (frame, value, [separator]) => join(frame, value, text(separator)) }],
]);

const starts = (value: string, part: string): boolean => value.startsWith(part);
const ends = (value: string, part: string): boolean => value.endsWith(part);

export type Each = (frame: Frame, item: Json) => Json;

export const COMPREHEND: Record<string, (frame: Frame, items: readonly Json[], each: Each) => Json> = {
  map: (frame, items, each) => items.map((item) => each(frame, item)),
  filter: (frame, items, each) => items.filter((item) => truth(frame, each(frame, item))),
  exists_one: (frame, items, each) => items.filter((item) => truth(frame, each(frame, item))).length === 1,
  all: (frame, items, each) => quantify(frame, items, each, false),
  exists: (frame, items, each) => quantify(frame, items, each, true),
};

/** As in CEL, an item that fails is ignored when another one decides. */
function quantify(frame: Frame, items: readonly Json[], each: Each, decisive: boolean): boolean {
  let failure: unknown;
  for (const item of items) {
    try {
      if (truth(frame, each(frame, item)) === decisive) return decisive;
    } catch (error) {
      forgive(frame, error);
      failure ??= error;
    }
  }
  if (failure) throw failure;
  return !decisive;
}

/**
 * Ignores an error where the language specifies it, except the one that always ends the evaluation. Charged,
 * since creating an error costs several microseconds.
 */
export function forgive(frame: Frame, error: unknown): void {
  if (!(error instanceof ExpressionError) || error.final) throw error;
  pay(frame, 400);
}

/** The written value, even if it is null; before the first write, the initial value. */
export function channelValue({ roots }: Frame, name: string, initial: Json | undefined): Json {
  const written = own(roots.channels as JsonObject, name);
  return written === undefined ? (initial ?? fail(`The channel ${name} is empty.`)) : written;
}

export function itemsOf(frame: Frame, value: Json): readonly Json[] {
  if (Array.isArray(value)) return value;
  if (!isObject(value)) return fail('Only lists and maps can be iterated.');
  const keys = Object.keys(value);
  payKeys(frame, keys.length);
  return keys;
}

export function member(frame: Frame, target: Json, key: Json): Json {
  pay(frame, 1);
  if (isObject(target) && typeof key === 'string') {
    if (Object.hasOwn(target, key)) return target[key]!;
    return fail(`There is no \`${key.slice(0, 100)}\`.`);
  }
  if (Array.isArray(target) && typeof key === 'number') {
    const item = target[key];
    return item === undefined ? fail('The index is outside the list.') : item;
  }
  return fail(`\`${String(key).slice(0, 100)}\` cannot be read: this is neither a map nor a list.`);
}

const NAMES = {
  function: ['has', ...FUNCTIONS.keys()],
  method: ['matches', ...METHODS.keys(), ...Object.keys(COMPREHEND)],
};

export function noSuch(what: keyof typeof NAMES, name: string, count: number): Error {
  const names = NAMES[what];
  return new Error(`There is no ${what} ${name}/${count}${names.includes(name) ? '' : meant(name, names)}`);
}
