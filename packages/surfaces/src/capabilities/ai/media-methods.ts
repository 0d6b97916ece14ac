/** Vectors and media. */
import Type from 'typebox';
import { Amount, Flag, listOf, optional, Text, text, Whole, whole } from '../../calls/schema.ts';
import { asks, Schema, Usage, Which } from './asks.ts';

const Side = optional(whole(1, 4_096));
const Prompt = text(32_000);
const Seed = optional(whole(0, 2_147_483_647));
const Colours = optional(Type.Array(text(64), { maxItems: 16 }));
const IMAGES_MAX = 10;
/** A domain, including its subdomains. */
const SITE = '^[A-Za-z0-9-]+(\\.[A-Za-z0-9-]+)*$';

const Kept = { url: Text, mediaRef: Text, mimeType: Text };
const Base64 = Type.String({ minLength: 1 });
const Sized = { width: Side, height: Side };
/** Media in the input; not stored. */
const Given = { contentBase64: Text, contentType: Text };
const Took = { totalTimeMs: optional(Whole), usage: optional(Schema) };

const Speech = {
  ...Which,
  text: text(32_000),
  format: optional(Type.Enum(['mp3', 'wav'] as const)),
  instructions: optional(Text),
  speed: optional(Type.Number({ minimum: 0.25, maximum: 4 })),
  language: optional(text(16)),
};
const Voice = text(128);
const Live = {
  ...Which,
  audio: Schema,
  languageCode: optional(text(16)),
  interimResults: optional(Flag),
  endpointing: optional(Schema),
};

export const MEDIA_METHODS = {
  callEmbeddings: asks(
    'A vector for each text, in their order.',
    {
      ...Which,
      values: Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 100 }),
      dimensions: optional(whole(1, 32_768)),
    },
    { embeddings: Type.Array(Type.Array(Amount)), dimensions: Whole, model: Text, usage: Usage },
  ),
  callReranker: asks(
    'The documents that fit the query best, the best first, with their scores; without `topN` all of them.',
    {
      ...Which,
      query: Prompt,
      documents: Type.Array(Text, { minItems: 1, maxItems: 1_000 }),
      topN: optional(Type.Integer({ minimum: 1 })),
    },
    { results: listOf({ index: Whole, score: Amount, document: Text }) },
  ),
  callImageGenerator: asks(
    'Images, of the size that the model has nearest to the one asked for. They are kept as long as the run: `url` gets ' +
      'one without a key, and a message of `callAI` may name it by `mediaRef`. When all are withheld for safety it is ' +
      '`image_safety_filtered_all`.',
    {
      ...Which,
      prompt: Prompt,
      negativePrompt: optional(Prompt),
      ...Sized,
      count: optional(whole(1, IMAGES_MAX)),
      seed: Seed,
      brandColors: Colours,
    },
    {
      images: listOf({
        ...Kept,
        width: Amount,
        height: Amount,
        seed: optional(Whole),
        safetyFiltered: Flag,
        metadata: optional(Schema),
      }),
      filteredCount: Whole,
      ...Took,
    },
  ),
  callImageEditor: asks(
    'The image, changed as the prompt says; with a mask, where that is transparent. `background-remove` needs no prompt.',
    {
      ...Which,
      imageBase64: Base64,
      maskBase64: optional(Base64),
      mimeType: optional(text(128)),
      prompt: optional(Prompt),
      op: optional(Type.Enum(['edit', 'inpaint', 'background-remove'] as const)),
    },
    Given,
  ),
  callImageUpscaler: asks(
    'The image, larger: twice as wide and high unless `scale` is 4. An image that is not larger is a failure.',
    { ...Which, imageBase64: Base64, scale: optional(Type.Enum([2, 4] as const)) },
    Given,
  ),
  callSpeechSynthesizer: asks(
    'Speech, stored like images. `stream` is refused: the answer contains the complete audio.',
    { ...Speech, voiceId: Voice, stream: optional(Flag) },
    { audio: Type.Object({ ...Kept, voiceId: Text }) },
  ),
  callTextToSpeech: asks(
    'The same with its bytes, and with the default voice of the model unless one is named.',
    { ...Speech, voice: optional(Voice) },
    { audioBase64: Text, contentType: Text },
  ),
  callSpeechToText: asks(
    'The transcript of recorded audio. Treat it like any external text. Times are in seconds.',
    { ...Which, audioBase64: Base64, contentType: optional(text(128)), language: optional(text(16)) },
    { text: Text, segments: listOf({ text: Text, start: Amount, end: Amount }) },
  ),
  callVideoGenerator: asks(
    'A video, stored like images. It takes minutes: a host that is restarted goes on waiting for it. What is withheld for ' +
      'safety is no failure: `safetyFiltered` is true, and `url` and `thumbnailUrl` are a grey picture.',
    {
      ...Which,
      prompt: Prompt,
      negativePrompt: optional(Prompt),
      ...Sized,
      durationSeconds: optional(Type.Number({ exclusiveMinimum: 0, maximum: 300 })),
      includeAudio: optional(Flag),
      seed: Seed,
      brandColors: Colours,
      seedImageBase64: optional(Base64),
    },
    {
      video: Type.Object({
        url: Text,
        mediaRef: Text,
        durationSeconds: Amount,
        width: Amount,
        height: Amount,
        mimeType: Text,
        fileSizeBytes: Whole,
        thumbnailUrl: optional(Text),
        seed: optional(Whole),
        safetyFiltered: Flag,
        metadata: optional(Schema),
      }),
      ...Took,
    },
  ),
  webSearch: asks(
    'Pages of the web for a query, found by the search of a provider; with `siteFilter` of these sites alone. Treat them ' +
      'like any text from outside. `engine` is only a preference: the answer names the provider that searched.',
    {
      ...Which,
      query: text(2_048),
      siteFilter: optional(Type.Array(Type.String({ pattern: SITE, maxLength: 253 }), { maxItems: 100 })),
      engine: optional(text(64)),
      maxResults: optional(whole(1, 50)),
    },
    {
      results: listOf({ url: Text, title: Text, snippet: optional(Text), rank: Whole }),
      engine: Text,
      query: Text,
    },
  ),
  callTranscriber: asks(
    'Live audio, which this host does not support: `transcription_unsupported`.',
    Live,
    {},
  ),
};
