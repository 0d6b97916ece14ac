/**
 * The script language: the output of a model, turn by turn, and its faults. The `scripted` provider plays a script
 * without a network; test servers play it in the dialect of each family.
 */
import { closedObject, type Json, optional, type Problem, problemsIn } from '@gantry/protocol';
import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/schema';
import type { Finish, ToolCallPart, Usage } from '../model.ts';
import { TOKENS_MAX } from '../reported.ts';

const Text = Type.String({ minLength: 1, maxLength: 1_000_000 });
const Count = Type.Integer({ minimum: 0, maximum: TOKENS_MAX });

/** The possible faults of a turn. Each turn serves one attempt, so the next attempt gets the next turn. */
export const FAULTS = {
  '429-retry-after': 'limited, with the time to wait',
  '429': 'limited, nobody says for how long',
  overloaded: '529 or 503 before the stream',
  'overloaded-mid-stream': 'an error within the stream',
  '500': 'a server error',
  '408': 'the server waited too long for the request',
  'html-502': 'a gateway answers with a page',
  'html-403': 'a gateway does not let the request pass',
  '401': 'the key is rejected',
  quota: 'the account has nothing left to spend',
  'unknown-model': 'no such model',
  'too-long': 'the context is too long',
  '400': 'the request is rejected for another reason',
  cut: 'the connection breaks within the stream',
  'end-without-stop': 'the stream ends cleanly, but early',
  silent: 'nothing comes after the first half',
  empty: 'the stream ends before it begins',
  garbled: 'what comes after the first half is no JSON',
  'no-usage': 'an answer without usage',
  refusal: 'the model declines; the text says so',
  'args-broken': 'the arguments of tool calls are no JSON',
  'args-in-pieces': 'arguments arrive a few characters at a time',
  'no-index': 'pieces of tool calls carry no index',
  'split-utf8': 'characters are split between packets',
  slow: 'one byte range at a time, with pauses',
} as const satisfies Record<string, string>;
export type FaultName = keyof typeof FAULTS;
export const FAULT_NAMES = Object.keys(FAULTS) as FaultName[];

const ScriptedCall = closedObject({
  id: optional(Text),
  name: Text,
  arguments: optional(Type.Unknown()),
});

export const ScriptTurn = closedObject({
  reasoning: optional(Text),
  /** A string is sent word by word, a list item by item. */
  text: optional(Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 10_000 })])),
  toolCalls: optional(Type.Array(ScriptedCall, { maxItems: 128 })),
  /** The results of a search; null if it fails. */
  sources: optional(
    Type.Union([
      Type.Array(closedObject({ url: Text, title: optional(Text), snippet: optional(Text) }), {
        maxItems: 100,
      }),
      Type.Null(),
    ]),
  ),
  finish: optional(Type.Union([Type.Literal('stop'), Type.Literal('length')])),
  usage: optional(
    closedObject({
      inputTokens: Count,
      outputTokens: Count,
      cacheReadTokens: optional(Count),
      cacheWriteTokens: optional(Count),
    }),
  ),
  model: optional(Text),
  fault: optional(Type.Enum(FAULT_NAMES)),
  retryAfterMs: optional(Count),
  /** A pause before each piece of text. */
  delayMs: optional(Type.Integer({ minimum: 0, maximum: 5_000 })),
});
export type ScriptTurn = Static<typeof ScriptTurn>;

export const Script = Type.Array(ScriptTurn, { minItems: 1, maxItems: 1_000 });
export type Script = readonly ScriptTurn[];

const compile = () => Compile(Script);
let compiled: ReturnType<typeof compile> | undefined;

/** @example readScript([{ text: 'Hello' }]) // { script: [...] } */
export function readScript(value: unknown): { readonly script: Script } | { readonly problems: Problem[] } {
  // Compiled with the first script: most hosts have none
  compiled ??= compile();
  return compiled.Check(value) ? { script: value } : { problems: problemsIn(compiled, value) };
}

/** `Hello there` is sent as `Hello`, ` there`. */
export const piecesOf = (text: ScriptTurn['text'] = ''): readonly string[] =>
  typeof text === 'string' ? (text.match(/\s*\S+(?:\s+$)?|^\s+$/g) ?? []) : text;

export const textOf = (turn: ScriptTurn): string => piecesOf(turn.text).join('');

export const BROKEN_ARGUMENTS = '{"broken": ';

export function callsOf(turn: ScriptTurn): ToolCallPart[] {
  return (turn.toolCalls ?? []).map(({ id, name, arguments: given }, index) => {
    const call = { id: id ?? `call_${index + 1}`, name };
    return turn.fault === 'args-broken'
      ? { ...call, arguments: null, broken: BROKEN_ARGUMENTS }
      : { ...call, arguments: (given ?? {}) as Json };
  });
}

export function finishOf(turn: ScriptTurn): Finish {
  if (turn.fault === 'refusal') return 'refusal';
  return turn.finish ?? (turn.toolCalls?.length ? 'tool-calls' : 'stop');
}

/** The default usage of a turn: one token per piece. */
export function usageOf(turn: ScriptTurn, inputTokens = 1): Usage {
  const outputTokens = piecesOf(turn.text).length + piecesOf(turn.reasoning).length + callsOf(turn).length;
  return turn.usage ?? { inputTokens, outputTokens };
}

export const RETRY_AFTER_MS = 1_000;
