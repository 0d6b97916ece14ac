/**
 * The `scripted` provider plays a turn of a script without a network. The same request and turn give the same parts.
 */
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import type { Json, JsonObject } from '@gantry/protocol';
import {
  type ChatModel,
  type Message,
  ModelFailure,
  type ModelFailureKind,
  type ModelRequest,
  type Source,
  type StreamPart,
} from '../model.ts';
import {
  callsOf,
  type FaultName,
  finishOf,
  piecesOf,
  RETRY_AFTER_MS,
  type Script,
  type ScriptTurn,
  usageOf,
} from './script.ts';

/** Available without a key and without a network, and only used if named. */
export const SCRIPTED_PROVIDERS = ['scripted', 'mock', 'stream-text'] as const;
/** The capabilities that scripts can play. */
export const SCRIPTED_CAPABILITIES: readonly string[] = [
  'structured-output',
  'discriminator-enum',
  'function-calling',
];
export type ScriptedProvider = (typeof SCRIPTED_PROVIDERS)[number];
export const isScripted = (provider: string): provider is ScriptedProvider =>
  (SCRIPTED_PROVIDERS as readonly string[]).includes(provider);

export interface ScriptedOptions {
  /** Without a script, the model repeats its input. */
  readonly script?: Script;
  /** The turn of this attempt: the number of earlier attempts with this script. */
  readonly turn?: number;
}

const SILENCE_MS = 60_000;

/** @example scriptedModel({ script: [{ text: 'Hello' }] }).stream(request, reach) */
export function scriptedModel(options: ScriptedOptions = {}): ChatModel {
  return {
    stream: (request, { signal }) => play(options.script ? turnIn(options) : echo(request), request, signal),
  };
}

/** Throws if the script has no such turn. */
export function turnIn({ script = [], turn: index = 0 }: ScriptedOptions): ScriptTurn {
  const turn = script[index];
  if (turn) return turn;
  throw new ModelFailure(
    'rejected',
    `The script has ${script.length} turns and was asked for turn ${index + 1}. Add a turn.`,
  );
}

const PARTS_PER_TURN = 100;

async function* play(
  turn: ScriptTurn,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<StreamPart> {
  signal.throwIfAborted();
  const refused = refusalOf(turn);
  if (refused) throw refused;
  const parts = [...partsOf(turn)];
  const broken =
    turn.sources === null ? 'The search of the provider failed.' : turn.fault && BREAKS[turn.fault];
  // A stream that breaks has sent its first half.
  const told = broken ? parts.slice(0, Math.max(1, Math.floor(parts.length / 2))) : parts;
  for (const [at, part] of told.entries()) {
    if (turn.delayMs) await pause(turn.delayMs, undefined, { signal });
    // No network wait yields here, so let other work of the process run
    else if (at % PARTS_PER_TURN === PARTS_PER_TURN - 1) await nextTurn();
    signal.throwIfAborted();
    yield part;
  }
  if (turn.fault === 'silent') await pause(SILENCE_MS, undefined, { signal });
  if (broken) throw new ModelFailure('broken', broken);
  const model = turn.model ?? request.model;
  const end = { type: 'end', finish: finishOf(turn), model } as const;
  yield turn.fault === 'no-usage' ? end : { ...end, usage: usageOf(turn, inputTokensOf(request)) };
}

function* partsOf(turn: ScriptTurn): Generator<StreamPart> {
  for (const text of piecesOf(turn.reasoning)) yield { type: 'reasoning', text };
  if (turn.sources) yield { type: 'sources', sources: turn.sources };
  for (const text of piecesOf(turn.text)) yield { type: 'text', text };
  for (const call of callsOf(turn)) {
    yield { type: 'toolInput', text: call.broken ?? JSON.stringify(call.arguments) };
    yield { type: 'toolCall', call };
  }
}

const LIMITED = 'The provider limits requests (429).';
const FAILED = 'The provider failed.';
const BAD_KEY = 'The provider rejected the key.';

/** Turns that fail before an answer starts. */
const REFUSALS: Faults<readonly [kind: ModelFailureKind, message: string, status: number]> = {
  '429-retry-after': ['limited', LIMITED, 429],
  '429': ['limited', LIMITED, 429],
  overloaded: ['limited', 'The provider is overloaded (529).', 529],
  '408': ['broken', FAILED, 408],
  '500': ['broken', FAILED, 500],
  'html-502': ['broken', FAILED, 502],
  '401': ['key-rejected', BAD_KEY, 401],
  'html-403': ['key-rejected', BAD_KEY, 403],
  quota: ['quota', 'The account at the provider has nothing left to spend.', 429],
  'unknown-model': ['unknown-model', 'The provider has no such model (404).', 404],
  'too-long': ['too-long', 'The request exceeds the context of the model.', 400],
  '400': ['rejected', 'The provider rejected the request (400).', 400],
};
type Faults<T> = { readonly [Name in FaultName]?: T };

export function refusalOf({ fault, retryAfterMs = RETRY_AFTER_MS }: ScriptTurn): ModelFailure | undefined {
  const refusal = fault && REFUSALS[fault];
  if (!refusal) return undefined;
  const [kind, message, status] = refusal;
  return new ModelFailure(kind, message, { status, ...(fault === '429-retry-after' && { retryAfterMs }) });
}

const EARLY = 'The answer of the provider ended early.';

/** Why the answer of a turn never ends. */
export const BREAKS: Faults<string> = {
  cut: 'The connection to the provider broke within the answer.',
  empty: EARLY,
  'end-without-stop': EARLY,
  silent: 'The provider sent nothing for 60 s.',
  garbled: 'The provider sent an answer that cannot be read.',
  'overloaded-mid-stream': 'The provider reported an error within the answer.',
};

const textOfMessage = ({ content }: Message): string => {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return JSON.stringify(content);
  return content
    .map((part) => (part && typeof part === 'object' && 'text' in part ? String(part.text) : ''))
    .join(' ');
};

const inputTokensOf = ({ messages }: ModelRequest): number =>
  messages.reduce((total, message) => total + piecesOf(textOfMessage(message)).length, 0);

/** Without a script: the last message, or the smallest value that matches the schema. A search finds made-up pages. */
function echo({ messages, schema, search }: ModelRequest): ScriptTurn {
  if (schema) return { text: JSON.stringify(sampleOf(schema.schema)) };
  const last = messages.findLast(({ role }) => role === 'user' || role === 'tool');
  const text = last ? textOfMessage(last) : '';
  return { text, ...(search && { sources: madeUp(text, search.sites) }) };
}

const PAGES = 5;

function madeUp(query: string, [site = 'example.com']: readonly string[]): Source[] {
  // Cut text may end within a surrogate pair
  const topic = query.slice(0, 64).toWellFormed();
  return Array.from({ length: PAGES }, (_, at) => ({
    url: `https://${site}/${encodeURIComponent(topic)}/${at + 1}`,
    title: `${topic}, page ${at + 1}`,
    snippet: `A page that is made up, about: ${query.slice(0, 256)}`,
  }));
}

const DEPTH_MAX = 16;

/** A value that matches simple schemas: an example of the shape, not of the content. */
function sampleOf(schema: Json | undefined, depth = 0): Json {
  if (schema === null || typeof schema !== 'object' || Array.isArray(schema) || depth > DEPTH_MAX)
    return null;
  if (schema.const !== undefined) return schema.const;
  for (const choices of [schema.enum, schema.examples])
    if (Array.isArray(choices) && choices[0] !== undefined) return choices[0];
  if (schema.default !== undefined) return schema.default;
  for (const choices of [schema.anyOf, schema.oneOf])
    if (Array.isArray(choices)) return sampleOf(choices[0], depth + 1);
  const [type] = [schema.type].flat();
  if (type === 'object' || schema.properties) return sampleObject(schema, depth);
  if (type === 'array')
    return Array.from({ length: Math.min(Number(schema.minItems ?? 0), 10) }, () =>
      sampleOf(schema.items, depth + 1),
    );
  if (type === 'string') return 'text'.padEnd(Math.min(Number(schema.minLength ?? 0), 1_000), '.');
  if (type === 'number' || type === 'integer') return Number(schema.minimum ?? 0);
  return type === 'boolean' ? false : null;
}

function sampleObject(schema: JsonObject, depth: number): JsonObject {
  const members = (schema.properties ?? {}) as JsonObject;
  const required = Array.isArray(schema.required) ? schema.required : Object.keys(members);
  return Object.fromEntries(
    required.map((name) => [String(name), sampleOf(members[String(name)], depth + 1)]),
  );
}
