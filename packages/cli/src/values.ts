/** How values are written on the command line. */

import { readFile } from 'node:fs/promises';
import { type Position, readSource } from '@gantry/packs';
import type { Json, JsonObject } from '@gantry/protocol';
import { didYouMean, isObject, readJsonText } from '@gantry/protocol';
import { UsageError } from './io.ts';

/** Parses JSON if possible, else returns the text. */
export function readValue(text: string): Json {
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  return parseJson(text, text);
}

/** Reads JSON; `source` names its location in errors. */
export function parseJson(text: string, source: string): Json {
  let read: ReturnType<typeof readJsonText>;
  try {
    read = readJsonText(text);
  } catch (error) {
    throw new UsageError(`${source} is not JSON: ${error instanceof Error ? error.message : error}`);
  }
  if (!read.problem) return read.value;
  const { path, problem } = read.problem;
  throw new UsageError(`${source}: ${path === '' ? '' : `${path}: `}${problem}.`);
}

/** @example splitPair('n=3', '--input') // ['n', '3'] */
export function splitPair(pair: string, taker: string): [string, string] {
  const equals = pair.indexOf('=');
  if (equals < 1) throw new UsageError(`${taker} takes name=value, not "${pair}".`);
  return [pair.slice(0, equals), pair.slice(equals + 1)];
}

function readPair(pair: string, taker: string): [string, Json] {
  const [name, text] = splitPair(pair, taker);
  return [name, readValue(text)];
}

/** @example readPairs(['n=3', 'name=Ada'], '--input') // { n: 3, name: 'Ada' } */
export const readPairs = (pairs: readonly string[], taker: string): JsonObject =>
  Object.fromEntries(pairs.map((pair) => readPair(pair, taker)));

export interface FileSource {
  readonly value: Json;
  positionOf(pointer: string): Position;
}

/** Reads a file of JSON or YAML. */
export async function readFileSource(file: string): Promise<FileSource> {
  const text = await readFile(file, 'utf8').catch((error) => {
    throw new UsageError(`Cannot read ${file} (${error.code}). Check the path.`);
  });
  const source = await readSource(file, text);
  if (source.kind === 'json') return source;
  const { line, column } = source.position;
  throw new UsageError(`${file}:${line}:${column}: ${source.message}`);
}

export const readJson = async (file: string): Promise<Json> => (await readFileSource(file)).value;

/**
 * The same, where a dot leads into an object.
 * @example readTree(['ai.model=small', 'ai.maxTokens=9'], '--set') // { ai: { model: 'small', maxTokens: 9 } }
 */
export function readTree(pairs: readonly string[], taker: string): JsonObject {
  const tree: JsonObject = {};
  for (const pair of pairs) {
    const [path, value] = readPair(pair, taker);
    const names = path.split('.');
    const last = names.pop() ?? '';
    if ([...names, last].some((name) => name === '' || name === '__proto__'))
      throw new UsageError(`${taker} takes name=value, and a.b=value for a member: not "${pair}".`);
    let at = tree;
    for (const name of names) {
      const inner = isObject(at[name]) ? at[name] : {};
      at[name] = inner;
      at = inner;
    }
    at[last] = value;
  }
  return tree;
}

const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** @example readDuration('90m', '--in') // 5_400_000 */
export function readDuration(text: string, taker: string): number {
  const match = /^(\d{1,9})([smhd])$/.exec(text);
  const unitMs = UNIT_MS[match?.[2] as keyof typeof UNIT_MS];
  if (!match || unitMs === undefined) {
    throw new UsageError(`${taker} takes a number and a unit such as 30s, 15m, 2h or 3d, not "${text}".`);
  }
  return Number(match[1]) * unitMs;
}

/** Accepts one of the known words; otherwise throws a usage error that suggests the nearest. */
export function readChoice<T extends string>(
  word: string | undefined,
  { known, noun }: { known: readonly T[]; noun: string },
): T | undefined {
  if (word === undefined) return undefined;
  const found = known.find((each) => each === word);
  if (found !== undefined) return found;
  throw new UsageError(
    `There is no ${noun} "${word}".${didYouMean(word, known) || ` One of: ${known.join(', ')}.`}`,
  );
}

/** Quotes a word for a shell if necessary. */
export const shellWord = (word: string): string =>
  /^[\w.:/@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
