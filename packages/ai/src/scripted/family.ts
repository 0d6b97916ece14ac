/** What the `scripted` provider does beside chat: deterministic, and enough to try a workflow without a key. */
import { createHash } from 'node:crypto';
import { ModelFailure, type ProviderFamily, type Reach } from '../model.ts';
import { breaks, refusalOf, type ScriptedOptions, scriptedModel, turnIn } from './play.ts';
import type { ScriptTurn } from './script.ts';

const DIMENSIONS = 256;

export function scriptedFamily(options: ScriptedOptions = {}): ProviderFamily {
  const begin = ({ signal }: Reach): ScriptTurn => {
    signal.throwIfAborted();
    const turn = options.script ? turnIn(options) : {};
    const broken = breaks(turn.fault);
    const failure = refusalOf(turn) ?? (broken ? new ModelFailure('broken', broken) : undefined);
    if (failure) throw failure;
    return turn;
  };
  return {
    chat: scriptedModel(options),
    async embed({ values, dimensions = DIMENSIONS }, reach) {
      const { usage } = begin(reach);
      const inputTokens = usage?.inputTokens ?? values.reduce((sum, text) => sum + wordsIn(text).length, 0);
      return { embeddings: values.map((text) => vectorOf(text, dimensions)), inputTokens };
    },
  };
}

const wordsIn = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Each word adds one at a place of its own: texts with the same words are near each other. */
function vectorOf(text: string, dimensions: number): number[] {
  const vector = new Array<number>(dimensions).fill(0);
  const words = wordsIn(text);
  for (const word of words.length > 0 ? words : [text]) {
    const hash = createHash('sha256').update(word).digest();
    vector[hash.readUInt32BE(0) % dimensions]! += (hash[4]! & 1) === 0 ? 1 : -1;
  }
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}
