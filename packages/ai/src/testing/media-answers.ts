/** What the servers answer beside chat: embeddings, images, speech, videos and lists of models. */
import type { ServerResponse } from 'node:http';
import { plainPng } from '../scripted/png.ts';
import type { Asked } from './dialect.ts';

export interface MediaAnswers {
  /** The status to fail with, and what the body says. */
  failure?: { readonly status: number; readonly body: unknown };
  /** How many images are withheld, of those asked for. */
  withheld?: number;
  /** How often a video is still pending. */
  pending?: number;
  videoFiltered?: boolean;
  /** What the operation of a video ends with. */
  videoError?: { readonly code: number; readonly message: string };
  models?: readonly string[];
  /** Edits have the size that was asked for, instead of one pixel. */
  enlarges?: boolean;
  /** How many tokens embeddings, rankings and images have cost. */
  tokens?: unknown;
  /** Instead of the ranking that was asked for. */
  ranking?: readonly object[];
}

/** One white pixel. */
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);
export const MP3 = Buffer.from([0xff, 0xf3, 0x44, 0xc4, 0, 0, 0, 0]);
export const VIDEO = Buffer.from('....ftypisom video');

type Routes = readonly [RegExp, (asked: Asked, answers: MediaAnswers) => unknown][];

const numbers = (text: unknown, dimensions = 4) =>
  Array.from({ length: dimensions }, (_, at) => (String(text).charCodeAt(at) || 0) / 256);
const count = (body: Asked['body'], answers: MediaAnswers): number => {
  const inForm = /name="n"\r\n\r\n(\d+)/.exec(String(body.raw ?? ''))?.[1];
  return Number(inForm ?? body.n ?? 1) - (answers.withheld ?? 0);
};

/** The longest text first. */
const ranked = (documents: readonly string[], top: number) =>
  documents
    .map(({ length }, index) => ({ index, relevance_score: length / 100 }))
    .sort((left, right) => right.relevance_score - left.relevance_score)
    .slice(0, top);

function picture(body: Asked['body'], { enlarges = false }: MediaAnswers): Buffer {
  const [, width, height] = /name="size"\r\n\r\n(\d+)x(\d+)/.exec(String(body.raw ?? '')) ?? [];
  return enlarges ? plainPng(Number(width), Number(height), Buffer.from([1, 2, 3])) : PNG;
}

const ROUTES: Routes = [
  [
    /\/embeddings$/,
    ({ body }, { tokens = 3 }) => ({
      object: 'list',
      data: [body.input].flat().map((text, index) => ({
        object: 'embedding',
        index,
        embedding: numbers(text, Number(body.dimensions ?? 4)),
      })),
      usage: { prompt_tokens: tokens, total_tokens: tokens },
    }),
  ],
  [
    /\/rerank$/,
    ({ body }, { ranking, tokens = 9 }) => ({
      results: ranking ?? ranked(body.documents as readonly string[], Number(body.top_n)),
      usage: { total_tokens: tokens },
    }),
  ],
  [
    /\/images\/(generations|edits)$/,
    ({ body }, answers) => ({
      created: 1,
      data: Array.from({ length: count(body, answers) }, () => ({
        b64_json: picture(body, answers).toString('base64'),
      })),
      usage: { input_tokens: answers.tokens ?? 5, output_tokens: answers.tokens ?? 7, total_tokens: 12 },
    }),
  ],
  [/\/audio\/speech$/, () => MP3],
  [
    /\/audio\/transcriptions$/,
    () => ({
      text: 'Hello there.',
      language: 'english',
      duration: 1.5,
      segments: [
        {
          id: 0,
          seek: 0,
          start: 0,
          end: 1.5,
          text: 'Hello there.',
          tokens: [1],
          temperature: 0,
          avg_logprob: 0,
          compression_ratio: 1,
          no_speech_prob: 0,
        },
      ],
    }),
  ],
  [
    /:batchEmbedContents$/,
    ({ body }) => ({
      embeddings: (body.requests as { content: { parts: { text: string }[] } }[]).map(({ content }) => ({
        values: numbers(content.parts[0]?.text),
      })),
    }),
  ],
  [/:embedContent$/, ({ body }) => ({ embedding: { values: numbers(JSON.stringify(body.content)) } })],
  [/:generateContent$/, ({ body }, answers) => generated(body, answers)],
  [/:predictLongRunning$/, () => ({ name: 'models/veo/operations/op1' })],
  [/\/operations\/op1$/, (_asked, answers) => operation(answers)],
  [/\/files\/video$/, () => VIDEO],
  [
    /\/models$/,
    (_asked, { models = [] }) => ({ object: 'list', data: models.map((id) => ({ id, object: 'model' })) }),
  ],
  [/\/api\/tags$/, (_asked, { models = [] }) => ({ models: models.map((name) => ({ name, model: name })) })],
];

/** Gemini makes images and speech as parts of an answer. */
function generated(body: Asked['body'], answers: MediaAnswers): unknown {
  const { responseModalities = [] } = Object(body.generationConfig);
  const isWithheld = (answers.withheld ?? 0) > 0;
  if (isWithheld) answers.withheld = (answers.withheld ?? 0) - 1;
  const inlineData = responseModalities.includes('AUDIO')
    ? { mimeType: 'audio/L16;codec=pcm;rate=24000', data: Buffer.alloc(48).toString('base64') }
    : { mimeType: 'image/png', data: PNG.toString('base64') };
  const content = { role: 'model', parts: isWithheld ? [] : [{ inlineData }] };
  return {
    candidates: [{ content, index: 0, finishReason: isWithheld ? 'IMAGE_SAFETY' : 'STOP' }],
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 7, totalTokenCount: 12 },
  };
}

function operation(answers: MediaAnswers): unknown {
  if ((answers.pending ?? 0) > 0) {
    answers.pending = (answers.pending ?? 0) - 1;
    return { name: 'models/veo/operations/op1', done: false };
  }
  const { videoError: error } = answers;
  if (error) return { name: 'models/veo/operations/op1', done: true, error };
  const generateVideoResponse = answers.videoFiltered
    ? { raiMediaFilteredCount: 1, raiMediaFilteredReasons: ['sensitive words'] }
    : { generatedSamples: [{ video: { uri: 'ORIGIN/v1beta/files/video' } }] };
  return { name: 'models/veo/operations/op1', done: true, response: { generateVideoResponse } };
}

export function answerMedia(answers: MediaAnswers, asked: Asked, response: ServerResponse): void {
  const route = ROUTES.find(([path]) => path.test(asked.path));
  if (!route || answers.failure) {
    const { status, body } = answers.failure ?? { status: 404, body: { error: { message: 'no such path' } } };
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
    return;
  }
  const found = route[1](asked, answers);
  if (Buffer.isBuffer(found)) {
    response.writeHead(200, { 'content-type': found === VIDEO ? 'video/mp4' : 'audio/mpeg' });
    response.end(found);
    return;
  }
  const origin = `http://${response.req.headers.host}`;
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(found).replaceAll('ORIGIN', origin));
}
