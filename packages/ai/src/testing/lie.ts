/** How answers that a provider should never give are made, in every dialect. */
import type { ScriptTurn } from '../scripted/script.ts';
import type { Dialect } from './dialect.ts';

export const LIE_KINDS = ['counts', 'shapes', 'order', 'depth', 'size', 'encodings', 'silence'] as const;
export type LieKind = (typeof LIE_KINDS)[number];

/** `answer`: there is one, with the text if it says which. `failure`: there is none, after all tries. */
export type LieEnd = 'answer' | 'failure' | 'unfit';

export interface Told {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly chunks: readonly (string | Uint8Array)[];
  /** Default: it ends. */
  readonly afterwards?: 'end' | 'hang' | 'cut' | 'repeat';
}

export interface Lie {
  readonly kind: LieKind;
  readonly name: string;
  tell(dialect: Dialect): Told;
  /** For dialects that read it otherwise, by their names. */
  readonly end: LieEnd | (Partial<Record<string, LieEnd>> & { readonly else: LieEnd });
  /** Tokens of a request. Default: the honest ones. */
  readonly served?: number;
  /** A call with this schema; without one, for text. */
  readonly isStructured?: true;
}

export const TEXT = 'The boat goes down the river and comes back again.';
export const WORDS = 10;
export const usage = { inputTokens: 12, outputTokens: WORDS };
export const SERVED = usage.inputTokens + usage.outputTokens;
export const HONEST: ScriptTurn = { text: TEXT, usage };
export const SCHEMA = { type: 'object', properties: { c: { type: 'array', items: { $ref: '#' } } } };

type Json = Record<string, unknown>;
export const framesOf = (dialect: Dialect, turn: ScriptTurn = HONEST): readonly string[] =>
  dialect.frames(turn, 'm');

/** With each event as `change` makes it. */
const changed = (frames: readonly string[], change: (event: Json) => unknown): readonly string[] =>
  frames.map((frame) =>
    frame.replace(/^data: (\{.*\})$/m, (_, data) => `data: ${JSON.stringify(change(JSON.parse(data)))}`),
  );

/** With every member of that name, at any depth, as `change` makes it. */
function members(value: unknown, name: RegExp, change: (value: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => members(each, name, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key,
      name.test(key) ? change(each) : members(each, name, change),
    ]),
  );
}

export const told =
  (turn: ScriptTurn): Lie['tell'] =>
  (dialect) => ({ chunks: framesOf(dialect, turn) });
export const withMembers =
  (name: RegExp, change: (value: unknown) => unknown, turn = HONEST): Lie['tell'] =>
  (dialect) => ({
    chunks: changed(framesOf(dialect, turn), (event) => members(event, name, change)),
  });
export const rearranged =
  (arrange: (frames: readonly string[], dialect: Dialect) => readonly (string | Uint8Array)[]): Lie['tell'] =>
  (dialect) => ({ chunks: arrange(framesOf(dialect), dialect) });
/** Text in the place of an answer. */
export const body =
  (text: string | Uint8Array, type = 'text/event-stream', status = 200): Lie['tell'] =>
  () => ({ status, headers: { 'content-type': type }, chunks: [text] });
/** The whole honest answer with this before it. */
export const after =
  (text: string): Lie['tell'] =>
  (dialect) => ({ chunks: [text, ...framesOf(dialect)] });
export const asBytes =
  (encode: (text: string) => string | Uint8Array): Lie['tell'] =>
  (dialect) => ({ chunks: framesOf(dialect).map(encode) });

export const endOf = ({ end }: Lie, { name }: Dialect): LieEnd =>
  typeof end === 'string' ? end : (end[name] ?? end.else);
