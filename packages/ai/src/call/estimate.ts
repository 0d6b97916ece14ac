/**
 * An upper bound for the cost of a request, before it is sent. There is no tokenizer: texts for models have at
 * least three bytes per token, except unbroken runs such as base64, which have one and a half.
 */
import type { ContentPart, Message, ModelRequest, Usage } from '../model.ts';

const BYTES_PER_TOKEN = 3;
const BYTES_PER_TOKEN_UNBROKEN = 1.5;
const UNBROKEN = /[^\s]{65,}/g;
/** Tokens that providers add around a message, and around a definition. */
const TOKENS_AROUND = 16;
/** No provider counts more for a picture at its highest resolution, as input or output. */
export const TOKENS_PER_IMAGE = 6_500;
/** Sound is counted by duration: at most 32 tokens a second, at no less than a kilobyte a second. */
export const SOUND_BYTES_PER_TOKEN = 32;

const bytesOf = (text: string): number => Buffer.byteLength(text);

/** @example estimateTokens('Hello there') // 4 */
export function estimateTokens(text: string): number {
  const unbroken = (text.match(UNBROKEN) ?? []).reduce((sum, run) => sum + bytesOf(run), 0);
  return Math.ceil((bytesOf(text) - unbroken) / BYTES_PER_TOKEN + unbroken / BYTES_PER_TOKEN_UNBROKEN);
}

function estimatePart(part: ContentPart): number {
  switch (part.type) {
    case 'text':
      return estimateTokens(part.text);
    case 'image':
      return TOKENS_PER_IMAGE;
    case 'audio':
      return Math.ceil(part.data.byteLength / SOUND_BYTES_PER_TOKEN);
    case 'document':
      return Math.ceil(part.data.byteLength / BYTES_PER_TOKEN_UNBROKEN);
  }
}

function estimateMessage(message: Message): number {
  if (message.role === 'user' && typeof message.content !== 'string')
    return message.content.reduce((sum, part) => sum + estimatePart(part), 0);
  return estimateTokens(message.role === 'assistant' ? JSON.stringify(message) : textOf(message));
}

const textOf = ({ content }: Message): string =>
  typeof content === 'string' ? content : JSON.stringify(content);

export function estimateInput({ messages, tools = [], schema }: Omit<ModelRequest, 'model'>): number {
  const said = messages.reduce((sum, message) => sum + TOKENS_AROUND + estimateMessage(message), 0);
  const defined = [...tools, ...(schema ? [schema.schema] : [])];
  return defined.reduce((sum, each) => sum + TOKENS_AROUND + estimateTokens(JSON.stringify(each)), said);
}

/** Whole billionths of a US dollar per token. */
export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  /** Per image, ranking, web search, second of video, minute of transcribed sound, or 1,000 spoken characters. */
  readonly each?: number;
}

/** In billionths of a US dollar. Cache tokens are included in the input tokens. */
export function costOf(price: Price, usage: Usage, units = 0): number {
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  const plain = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens);
  const { input, output, cacheRead = input, cacheWrite = input, each = 0 } = price;
  return Math.ceil(
    plain * input +
      cacheReadTokens * cacheRead +
      cacheWriteTokens * cacheWrite +
      outputTokens * output +
      units * each,
  );
}

/** The highest possible cost of a request: the whole input at the highest input price. */
export function costAtMost(price: Price, inputTokens: number, outputTokens: number, units = 0): number {
  const input = Math.max(price.input, price.cacheWrite ?? 0);
  return Math.ceil(inputTokens * input + outputTokens * price.output + units * (price.each ?? 0));
}

/** A shorter answer is rarely useful. */
export const OUTPUT_TOKENS_MIN = 256;

export interface Left {
  readonly tokens?: number;
  readonly cost?: number;
}

/** The output limit that fits into the rest of the budget; null if not even the minimum does. */
export function outputThatFits(
  call: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly price: Price | null;
    readonly outputTokensMin?: number;
    readonly units?: number;
  },
  left: Left,
): number | null {
  const { inputTokens, outputTokens, price, outputTokensMin = OUTPUT_TOKENS_MIN, units } = call;
  const byTokens = (left.tokens ?? Number.POSITIVE_INFINITY) - inputTokens;
  const withoutOutput = price ? costAtMost(price, inputTokens, 0, units) : 0;
  const leftForOutput = (left.cost ?? Number.POSITIVE_INFINITY) - withoutOutput;
  if (leftForOutput < 0) return null;
  const byCost = price?.output ? Math.floor(leftForOutput / price.output) : Number.POSITIVE_INFINITY;
  const fits = Math.min(outputTokens, byTokens, byCost);
  return fits >= Math.min(outputTokensMin, outputTokens) ? fits : null;
}
