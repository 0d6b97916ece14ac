/**
 * Answers that a provider should never give, in every dialect: wrong counts and shapes, a wrong order, no end of depth or
 * size, broken encodings, silence. Each says how a run that asks for it has to end.
 */
import type { ScriptTurn } from '../scripted/script.ts';
import { type Dialect, openStream } from './dialect.ts';
import {
  after,
  asBytes,
  body,
  framesOf,
  HONEST,
  type Lie,
  rearranged,
  TEXT,
  told,
  usage,
  WORDS,
  withMembers,
} from './lie.ts';

const COUNTS = /^(prompt|completion|input|output)_tokens$|^(prompt|candidates)TokenCount$/;
const OUTPUT = /^(completion|output)_tokens$|^candidatesTokenCount$/;
const MODEL = /^model$|^modelVersion$/;
const TEXTS = /^(content|text|delta)$/;

const counts = (name: string, inputTokens: unknown, outputTokens: unknown, more: object = {}): Lie => ({
  kind: 'counts',
  name,
  tell: told({
    text: TEXT,
    usage: { inputTokens, outputTokens, ...more } as NonNullable<ScriptTurn['usage']>,
  }),
  end: 'answer',
});

const COUNT_LIES: readonly Lie[] = [
  counts('negative input', -100_000, WORDS),
  counts('negative output', 12, -1),
  counts('fractions', 1.5, 0.25),
  counts('far too many', 1e300, WORDS),
  counts('beyond safe integers', 12, 2 ** 53),
  counts('just too many', 100_000_001, WORDS),
  counts('more cached than sent', 12, WORDS, { cacheReadTokens: 40 }),
  counts('negative cached', 12, WORDS, { cacheReadTokens: -40 }),
  counts('nothing', 0, 0),
  counts('no output for a text', 12, 0),
  { kind: 'counts', name: 'none', tell: told({ ...HONEST, fault: 'no-usage' }), end: 'answer' },
  {
    kind: 'counts',
    name: 'texts',
    tell: withMembers(COUNTS, (count) => `${count}`),
    end: 'failure',
  },
  { kind: 'counts', name: 'an object', tell: withMembers(OUTPUT, (count) => ({ count })), end: 'failure' },
];

const SHAPE_LIES: readonly Lie[] = [
  ...[null, [], 5, 'text', {}].map(
    (event): Lie => ({
      kind: 'shapes',
      name: `an event that is ${JSON.stringify(event)}`,
      tell: after(`data: ${JSON.stringify(event)}\n\n`),
      end: JSON.stringify(event) === '{}' ? { google: 'answer', else: 'failure' } : 'failure',
    }),
  ),
  { kind: 'shapes', name: 'broken JSON', tell: after('data: {"a": \n\n'), end: 'failure' },
  { kind: 'shapes', name: 'no events', tell: body('Hello there.'), end: 'failure' },
  { kind: 'shapes', name: 'a page', tell: body('<html>Hello</html>', 'text/html'), end: 'failure' },
  { kind: 'shapes', name: 'nothing', tell: body(''), end: 'failure' },
  { kind: 'shapes', name: 'no content', tell: body('', 'text/plain', 204), end: 'failure' },
  {
    kind: 'shapes',
    name: 'an error as JSON',
    tell: body('{"error":{"message":"no"}}', 'application/json'),
    end: 'failure',
  },
  { kind: 'shapes', name: 'texts that are numbers', tell: withMembers(TEXTS, () => 5), end: 'failure' },
  {
    kind: 'shapes',
    name: 'a model that is a number',
    tell: withMembers(MODEL, () => 5),
    end: { google: 'answer', else: 'failure' },
  },
  {
    kind: 'shapes',
    name: 'calls without names',
    tell: withMembers(/^name$/, () => null, { toolCalls: [{ name: 'look', arguments: {} }], usage }),
    end: { google: 'answer', else: 'failure' },
  },
];

const ORDER_LIES: readonly Lie[] = [
  {
    kind: 'order',
    name: 'text after the end',
    tell: rearranged((frames) => [...frames, ...frames]),
    end: 'answer',
  },
  {
    kind: 'order',
    name: 'another end after the end',
    tell: rearranged((frames, dialect) => [
      ...frames,
      ...framesOf(dialect, { text: 'x', finish: 'length', usage }).slice(1),
    ]),
    end: 'answer',
  },
  {
    kind: 'order',
    name: 'backwards',
    tell: rearranged((frames) => frames.toReversed()),
    end: { google: 'answer', openai: 'answer', else: 'failure' },
  },
  {
    kind: 'order',
    name: 'the end first',
    tell: rearranged((frames) => frames.slice(-2)),
    end: { 'openai-compatible': 'failure', else: 'answer' },
  },
  { kind: 'order', name: 'only the start', tell: rearranged((frames) => frames.slice(0, 1)), end: 'failure' },
  {
    kind: 'order',
    name: 'every event twice',
    tell: rearranged((frames) => frames.flatMap((frame) => [frame, frame])),
    end: 'answer',
  },
  {
    kind: 'order',
    name: 'no start',
    tell: rearranged((frames) => frames.slice(1)),
    end: 'answer',
  },
  {
    kind: 'order',
    name: 'the mark of the end first',
    tell: after('data: [DONE]\n\n'),
    end: 'failure',
  },
  {
    kind: 'order',
    name: 'an error after the text',
    tell: rearranged((frames, dialect) => [
      ...frames.slice(0, Math.ceil(frames.length / 2)),
      dialect.errorFrame,
    ]),
    end: 'failure',
  },
];

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
const deepAnswer = (levels: number): string => '{"c":['.repeat(levels) + ']}'.repeat(levels);
/** In a member that nobody knows, of each event. */
const withDeepMember =
  (levels: number): Lie['tell'] =>
  (dialect) => ({
    chunks: framesOf(dialect).map((frame) => frame.replace('data: {', `data: {"deep":${nested(levels)},`)),
  });

const DEPTH_LIES: readonly Lie[] = [
  ...[70, 1_000, 20_000].map(
    (levels): Lie => ({
      kind: 'depth',
      name: `a value of ${levels} levels`,
      tell: told({ text: [deepAnswer(levels)], usage: { inputTokens: 12, outputTokens: 12 * levels } }),
      end: 'unfit',
      isStructured: true,
    }),
  ),
  ...[1_000, 100_000].map(
    (levels): Lie => ({
      kind: 'depth',
      name: `events of ${levels} levels`,
      tell: withDeepMember(levels),
      end: 'answer',
    }),
  ),
  {
    kind: 'depth',
    name: 'arguments of a call without end',
    tell: (dialect) => ({
      chunks: framesOf(dialect, { toolCalls: [{ name: 'look', arguments: { mark: 1 } }], usage }).map(
        (frame) =>
          frame.replaceAll(/\{\\"mark\\":1\}|\{"mark":1\}/g, (found) =>
            found.includes('\\') ? `{\\"mark\\":${nested(5_000)}}` : `{"mark":${nested(5_000)}}`,
          ),
      ),
    }),
    end: 'answer',
  },
];

const MANY = 20_000;
const SIZE_LIES: readonly Lie[] = [
  {
    kind: 'size',
    name: 'the name of the model',
    tell: told({ ...HONEST, model: 'm'.repeat(300_000) }),
    end: 'answer',
  },
  {
    kind: 'size',
    name: 'one event',
    tell: rearranged((frames) => frames.map((frame) => frame.replace('boat', 'boat'.repeat(1_500_000)))),
    end: 'failure',
  },
  {
    kind: 'size',
    name: 'a text that nobody asked for',
    tell: (dialect) => {
      const { begin, piece } = openStream(dialect, `${TEXT} `.repeat(200));
      return { chunks: [begin, ...Array<string>(100).fill(piece)] };
    },
    end: 'failure',
    served: 50_000,
  },
  {
    kind: 'size',
    name: 'pieces of one character',
    tell: told({ text: Array<string>(MANY / 4).fill('x'), usage: { inputTokens: 12, outputTokens: MANY } }),
    end: 'answer',
  },
  { kind: 'size', name: 'comments', tell: after(': still here\n\n'.repeat(MANY)), end: 'answer' },
  { kind: 'size', name: 'a line without an end', tell: body('x'.repeat(5_000_000)), end: 'failure' },
  { kind: 'size', name: 'empty lines', tell: after('\n'.repeat(1_000_000)), end: 'answer' },
  {
    kind: 'size',
    name: 'tool calls',
    tell: told({ toolCalls: Array(1_000).fill({ name: 'look', arguments: {} }), usage }),
    end: 'answer',
  },
  {
    kind: 'size',
    name: 'the id of a call',
    tell: told({ toolCalls: [{ id: 'i'.repeat(300_000), name: 'look', arguments: {} }], usage }),
    end: 'answer',
  },
];

const inText = (from: string, to: string): Lie['tell'] => asBytes((frame) => frame.replaceAll(from, to));

const ENCODING_LIES: readonly Lie[] = [
  {
    kind: 'encodings',
    name: 'bytes that are no UTF-8',
    tell: asBytes((frame) => Buffer.from(frame.replaceAll('boat', 'b\u00ff\u00fet'), 'latin1')),
    end: 'answer',
  },
  {
    kind: 'encodings',
    name: 'UTF-16',
    tell: asBytes((frame) => Buffer.from(frame, 'utf16le')),
    end: 'failure',
  },
  { kind: 'encodings', name: 'a byte order mark', tell: after('\ufeff'), end: 'answer' },
  { kind: 'encodings', name: 'half a surrogate pair', tell: inText('boat', '\\ud83d'), end: 'answer' },
  { kind: 'encodings', name: 'NUL', tell: inText('boat', '\\u0000'), end: 'answer' },
  { kind: 'encodings', name: 'control characters', tell: inText('boat', '\\u001b[2J\\u0007'), end: 'answer' },
  {
    kind: 'encodings',
    name: 'carriage returns',
    tell: asBytes((frame) => frame.replaceAll('\n', '\r')),
    end: 'answer',
  },
  {
    kind: 'encodings',
    name: 'one byte in each packet',
    tell: (dialect) => ({
      chunks: Array.from(Buffer.from(framesOf(dialect).join('')), (byte) => Uint8Array.of(byte)),
    }),
    end: 'answer',
  },
  {
    kind: 'encodings',
    name: 'compressed, it says',
    tell: (dialect) => ({ headers: { 'content-encoding': 'gzip' }, chunks: framesOf(dialect) }),
    end: 'answer',
  },
  {
    kind: 'encodings',
    name: 'members of prototypes',
    tell: inText(
      'data: {',
      'data: {"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},',
    ),
    end: 'failure',
  },
];

const silent = (name: string, tell: Lie['tell']): Lie => ({ kind: 'silence', name, tell, end: 'failure' });
const half = (dialect: Dialect): readonly string[] => {
  const { begin, piece } = openStream(dialect, TEXT);
  return [begin, piece];
};

const SILENCE_LIES: readonly Lie[] = [
  silent('after half of the text', (dialect) => ({ chunks: half(dialect), afterwards: 'hang' })),
  silent('before anything', () => ({ status: 0, chunks: [], afterwards: 'hang' })),
  silent('with comments', () => ({ chunks: [': still here\n\n'], afterwards: 'repeat' })),
  silent('with empty pieces', (dialect) => ({
    chunks: [openStream(dialect, '').piece],
    afterwards: 'repeat',
  })),
  silent('cut', (dialect) => ({ chunks: half(dialect), afterwards: 'cut' })),
  silent('an early end', (dialect) => ({ chunks: half(dialect) })),
];

export const LIES: readonly Lie[] = [
  ...COUNT_LIES,
  ...SHAPE_LIES,
  ...ORDER_LIES,
  ...DEPTH_LIES,
  ...SIZE_LIES,
  ...ENCODING_LIES,
  ...SILENCE_LIES,
];
