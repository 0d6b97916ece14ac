/** The tasks of the `scripted` provider besides chat: deterministic, and enough to try a workflow without a key. */
import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Media, ModelFailure, type ProviderFamily, type Reach } from '../model.ts';
import { imageOf } from '../providers/image-facts.ts';
import { videoOf } from '../providers/video-facts.ts';
import { emptyMp4 } from './mp4.ts';
import { BREAKS, refusalOf, type ScriptedOptions, scriptedModel, turnIn } from './play.ts';
import { plainPng } from './png.ts';
import { type ScriptTurn, textOf } from './script.ts';
import { heardIn, spoken } from './wav.ts';

const DIMENSIONS = 256;
/** The limit per text; other models read no more either. */
const READ_CHARS = 65_536;
const SIDE = 512;
const SIDE_MAX = 2_048;

export function scriptedFamily(options: ScriptedOptions = {}): ProviderFamily {
  const begin = ({ signal }: Reach): ScriptTurn => {
    signal.throwIfAborted();
    const turn = options.script ? turnIn(options) : {};
    const broken = turn.fault && BREAKS[turn.fault];
    const failure = refusalOf(turn) ?? (broken ? new ModelFailure('broken', broken) : undefined);
    if (failure) throw failure;
    return turn;
  };
  return {
    chat: scriptedModel(options),
    async embed({ values, dimensions = DIMENSIONS }, reach) {
      const { usage } = begin(reach);
      const { vectors, words } = await readAll(values, dimensions);
      return { embeddings: vectors, inputTokens: usage?.inputTokens ?? words };
    },
    async rerank({ query, documents, topN }, reach) {
      const { usage } = begin(reach);
      const { vectors, words } = await readAll([query, ...documents], DIMENSIONS);
      const [wanted = [], ...found] = vectors;
      const scored = found.map((vector, index) => ({ index, score: likeness(wanted, vector) }));
      const results = scored.sort((left, right) => right.score - left.score).slice(0, topN);
      return { results, inputTokens: usage?.inputTokens ?? words };
    },
    async image({ prompt, count, width = SIDE, height = SIDE, seed = 0 }, reach) {
      const { fault, usage = { inputTokens: wordsIn(prompt).length, outputTokens: count } } = begin(reach);
      if (fault === 'refusal') return { images: [], filtered: count, usage };
      const pictures: Media[] = [];
      for (let index = 0; index < count; index++) {
        const colour = hashOf(`${prompt} ${seed + index}`).subarray(0, 3);
        pictures.push(imageOf(plainPng(Math.min(width, SIDE_MAX), Math.min(height, SIDE_MAX), colour)));
        await nextTurn();
      }
      return { images: pictures, filtered: 0, usage };
    },
    async speech({ text }, reach) {
      begin(reach);
      return { data: spoken(text), mimeType: 'audio/wav' };
    },
    async transcribe({ audio }, reach) {
      const turn = begin(reach);
      const heard = heardIn(audio.data);
      const text = turn.text === undefined ? (heard?.text ?? '') : textOf(turn);
      if (text === '') return { text, segments: [] };
      const durationSeconds = heard?.seconds ?? 0;
      return { text, durationSeconds, segments: [{ text, from: 0, to: durationSeconds }] };
    },
    video: {
      async start({ width = 1_280, height = 720, durationSeconds = 5 }, reach) {
        const { fault, delayMs = 0 } = begin(reach);
        const shape = { width, height, durationSeconds };
        return { operation: { ...shape, isFiltered: fault === 'refusal', readyAt: Date.now() + delayMs } };
      },
      async status({ width, height, durationSeconds, isFiltered, readyAt }) {
        if (Date.now() < Number(readyAt)) return { state: 'pending' };
        if (isFiltered === true) return { state: 'filtered' };
        const video = emptyMp4(Number(width), Number(height), Number(durationSeconds));
        return { state: 'done', video: videoOf(video) };
      },
    },
  };
}

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();
const wordsIn = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

const likeness = (left: readonly number[], right: readonly number[]): number =>
  left.reduce((sum, value, at) => sum + value * right[at]!, 0);

/** Reads one text at a time, and yields to other work of the process in between. */
async function readAll(texts: readonly string[], dimensions: number) {
  const vectors: number[][] = [];
  let words = 0;
  for (const text of texts) {
    const read = text.slice(0, READ_CHARS);
    const found = wordsIn(read);
    vectors.push(vectorOf(found.length > 0 ? found : [read], dimensions));
    words += found.length;
    await nextTurn();
  }
  return { vectors, words };
}

/** Each word changes one dimension, selected by its hash: texts with the same words are near each other. */
function vectorOf(words: readonly string[], dimensions: number): number[] {
  const vector = new Array<number>(dimensions).fill(0);
  for (const word of words) {
    const hash = wordHash(word);
    vector[(hash >>> 1) % dimensions]! += (hash & 1) === 0 ? 1 : -1;
  }
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}

/** FNV-1a with extra mixing: a cryptographic hash takes microseconds per word. */
function wordHash(word: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193);
  return Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 0;
}
