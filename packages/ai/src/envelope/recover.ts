/** Finds the JSON in the output of a model: as it is, in a code fence, within prose, or repaired. */
import type { Json } from '@gantry/protocol';
import { isTooDeep, jsonOfModel } from '../reported.ts';

export type RecoveryPath = 'direct' | 'markdown-fence' | 'brace-walker' | 'jsonrepair';

export type Recovered =
  | { readonly ok: true; readonly value: Json; readonly path: RecoveryPath; readonly byteOffset: number }
  /** `isProse`: it does not even start as JSON. */
  | { readonly ok: false; readonly isProse: boolean; readonly isTooDeep?: true };

const FENCE = /```(?:json|jsonc)?[ \t]*\r?\n([\s\S]*?)```/i;

export async function recoverJson(text: string): Promise<Recovered> {
  const direct = parsed(text);
  if (direct !== undefined) return { ok: true, value: direct, path: 'direct', byteOffset: 0 };
  const fence = FENCE.exec(text);
  const fenced = fence?.[1] === undefined ? undefined : parsed(fence[1]);
  if (fence && fenced !== undefined)
    return found(text, fenced, 'markdown-fence', fence.index + fence[0].indexOf('\n') + 1);
  const isProse = !/^\s*(?:[[{]|```)/.test(text);
  const span = outermost(text);
  if (!span) return { ok: false, isProse };
  if (isTooDeep(text.slice(span.from, span.to))) return { ok: false, isProse, isTooDeep: true };
  const walked = parsed(text.slice(span.from, span.to));
  if (walked !== undefined) return found(text, walked, 'brace-walker', span.from);
  const repaired = await repairedJson(text.slice(span.from, span.to));
  return repaired === undefined ? { ok: false, isProse } : found(text, repaired, 'jsonrepair', span.from);
}

const found = (text: string, value: Json, path: RecoveryPath, at: number): Recovered => ({
  ok: true,
  value,
  path,
  byteOffset: Buffer.byteLength(text.slice(0, at)),
});

/** Objects and arrays only: a bare word or number is not an answer to a schema. */
function parsed(text: string): Json | undefined {
  const value = jsonOfModel(text);
  return typeof value === 'object' && value !== null ? value : undefined;
}

/** From the first brace or bracket to its closing one, or to the end if there is none. */
function outermost(text: string): { from: number; to: number } | null {
  const from = text.search(/[[{]/);
  if (from < 0) return null;
  let depth = 0;
  let isQuoted = false;
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (isQuoted) {
      if (character === '\\') at++;
      else if (character === '"') isQuoted = false;
    } else if (character === '"') isQuoted = true;
    else if (character === '{' || character === '[') depth++;
    else if ((character === '}' || character === ']') && --depth === 0) return { from, to: at + 1 };
  }
  return { from, to: text.length };
}

/** Repairing longer texts would take seconds on the main thread. */
const REPAIR_LENGTH_MAX = 256 * 1024;

async function repairedJson(text: string): Promise<Json | undefined> {
  if (text.length > REPAIR_LENGTH_MAX) return undefined;
  const { jsonrepair } = await import('jsonrepair');
  try {
    return parsed(jsonrepair(text));
  } catch {
    return undefined;
  }
}
