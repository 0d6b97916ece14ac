/** Scripts of the mock providers `stream-text` and `mock`, which run options and test programs name. */
import { closedObject, type JsonObject, optional, type Problem, problemsIn } from '@gantry/protocol';
import Type, { type Static, type TSchema } from 'typebox';
import { Compile } from 'typebox/schema';
import { TOKENS_MAX } from '../reported.ts';
import type { Script, ScriptTurn } from './script.ts';

const Tokens = Type.Optional(Type.Integer({ minimum: 0, maximum: TOKENS_MAX }));
const TokenCounts = Type.Object({
  promptTokens: Tokens,
  completionTokens: Tokens,
  inputTokens: Tokens,
  outputTokens: Tokens,
  totalTokens: Tokens,
});

const FINISHES = { stop: 'stop', length: 'length', content_filter: 'refusal', tool_calls: 'stop' } as const;

const StreamText = closedObject({
  tokens: optional(Type.Array(Type.String(), { maxItems: 10_000 })),
  delayMsPerToken: optional(Type.Integer({ minimum: 0, maximum: 5_000 })),
  finishReason: optional(Type.Enum(Object.keys(FINISHES) as (keyof typeof FINISHES)[])),
  usage: optional(TokenCounts),
  model: optional(Type.String({ minLength: 1 })),
});

/** One entry of a program for the provider `mock`. */
const ProgramEntry = Type.Union([
  closedObject({ mode: Type.Literal('envelope'), envelope: Type.Unknown() }),
  closedObject({ mode: Type.Literal('refusal'), refusalReason: optional(Type.String()) }),
  closedObject({
    stopReason: optional(Type.Enum(['end_turn', 'max_tokens', 'length', 'stop_sequence', 'safety'] as const)),
    content: optional(Type.Unknown()),
    refusalText: optional(Type.String()),
    inputTokens: Tokens,
    outputTokens: Tokens,
  }),
]);
type ProgramEntry = Static<typeof ProgramEntry>;
const Program = Type.Array(ProgramEntry, { minItems: 1, maxItems: 1_000 });

type ReadScript = { readonly script: Script } | { readonly problems: Problem[] };

/** @example streamTextScript({ tokens: ['mock', ' response'] }) // { script: [{ text: ['mock', ' response'], ... }] } */
export function streamTextScript(config: JsonObject = {}): ReadScript {
  return read(StreamText, config, ({ tokens, delayMsPerToken, finishReason = 'stop', usage, model }) => {
    const text = tokens ?? ['mock', ' response'];
    const finish = FINISHES[finishReason];
    const turn: ScriptTurn = {
      text,
      model: model ?? 'mock-stream-text-v1',
      delayMs: delayMsPerToken ?? 0,
      usage: {
        inputTokens: usage?.promptTokens ?? usage?.inputTokens ?? 1,
        outputTokens: usage?.completionTokens ?? usage?.outputTokens ?? text.length,
      },
    };
    return [finish === 'refusal' ? { ...turn, fault: 'refusal' } : { ...turn, finish }];
  });
}

/** The program of a node: one entry per attempt. */
export const programScript = (program: unknown): ReadScript =>
  read(Program, program, (entries) => entries.map(turnOf));

const asText = (content: unknown): string =>
  typeof content === 'string' ? content : JSON.stringify(content ?? '');

function turnOf(entry: ProgramEntry): ScriptTurn {
  if ('mode' in entry)
    return entry.mode === 'envelope'
      ? { text: [asText(entry.envelope)] }
      : { text: [entry.refusalReason ?? ''], fault: 'refusal' };
  const { stopReason, content, refusalText, inputTokens, outputTokens } = entry;
  const refused = stopReason === 'safety' || refusalText !== undefined;
  const usage = { inputTokens: inputTokens ?? 1, outputTokens: outputTokens ?? 1 };
  if (refused) return { text: [refusalText ?? asText(content)], fault: 'refusal', usage };
  const isCut = stopReason === 'max_tokens' || stopReason === 'length';
  return { text: [asText(content)], finish: isCut ? 'length' : 'stop', usage };
}

function read<T extends TSchema>(schema: T, value: unknown, make: (value: Static<T>) => Script): ReadScript {
  const compiled = Compile(schema);
  return compiled.Check(value)
    ? { script: make(value as Static<T>) }
    : { problems: problemsIn(compiled, value) };
}
