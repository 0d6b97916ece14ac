import type { FaultName, Script, ScriptTurn } from '../scripted/script.ts';

export interface Asked {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface ErrorAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** How one family speaks over HTTP. */
export interface Dialect {
  readonly name: string;
  /** What the address of the API ends with. */
  readonly base: string;
  /** Faults that this family cannot have, with the reason. */
  readonly cannot: Partial<Record<FaultName, string>>;
  /** The model that a request for an answer names; undefined for other requests. */
  modelOf(asked: Asked): string | undefined;
  /** What of a request the provider keeps, where it is asked to. */
  prefixOf?(asked: Asked): string | undefined;
  /** An answer as frames of its stream. */
  frames(turn: ScriptTurn, model: string): readonly string[];
  /** An error within a stream. */
  errorFrame: string;
  /** An answer that never begins. */
  error(fault: FaultName, retryAfterMs: number): ErrorAnswer | undefined;
}

/** `event` is left out by dialects that do not name their events. */
export const sse = (data: unknown, event?: string): string =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;

/** Arguments of a tool call as they are sent: whole, or a few characters at a time. */
export function argumentPieces(turn: ScriptTurn, text: string): readonly string[] {
  return turn.fault === 'args-in-pieces' ? (text.match(/.{1,3}/gsu) ?? []) : [text];
}

/** What an answer begins with, and one piece of its text. */
export function openStream(
  dialect: Dialect,
  text: string,
): { readonly begin: string; readonly piece: string } {
  const mark = 'the piece';
  const frames = dialect.frames({ text: [mark] }, 'm');
  const at = frames.findIndex((frame) => frame.includes(mark));
  return { begin: frames.slice(0, at).join(''), piece: frames[at]!.replace(mark, text) };
}

export type Scripts = ReadonlyMap<string, Script>;
