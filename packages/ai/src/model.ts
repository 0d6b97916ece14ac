/**
 * The port to models: the request of one attempt to a provider, and its possible answers.
 *
 * I1  A stream that is read to its end has exactly one `end` part, the last. Any other end (cut off, timeout,
 *     interruption, an error part) is a `ModelFailure`.
 * I2  Every failure of an attempt is a `ModelFailure` or the abort of its signal. No error object of a library is
 *     passed on: these contain requests, addresses and headers.
 */
import type { Json, JsonObject } from '@gantry/protocol';

export type Modality = 'text' | 'image' | 'audio' | 'document';

/** Media are bytes: a library that gets an address would fetch it itself, bypassing egress. */
export interface MediaPart {
  readonly type: Exclude<Modality, 'text'>;
  readonly mimeType: string;
  readonly data: Uint8Array;
  readonly name?: string;
}
export type ContentPart = { readonly type: 'text'; readonly text: string } | MediaPart;

/** `metadata` is data that the provider needs back unchanged in the next turn (signatures, item ids). */
export interface ToolCallPart {
  readonly id: string;
  readonly name: string;
  readonly arguments: Json;
  /** The arguments that the model sent, if they are not JSON; `arguments` is then null. */
  readonly broken?: string;
  readonly metadata?: JsonObject;
}

export interface ReasoningPart {
  readonly text: string;
  readonly metadata?: JsonObject;
}

export type Message =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: string | readonly ContentPart[] }
  | {
      readonly role: 'assistant';
      readonly content: string;
      readonly toolCalls?: readonly ToolCallPart[];
      readonly reasoning?: readonly ReasoningPart[];
    }
  | {
      readonly role: 'tool';
      readonly toolCallId: string;
      readonly name: string;
      readonly content: Json;
      readonly isError?: boolean;
    };

export interface ModelTool {
  readonly name: string;
  readonly description?: string;
  readonly parameters: JsonObject;
}

export interface ModelRequest {
  readonly model: string;
  readonly messages: readonly Message[];
  readonly tools?: readonly ModelTool[];
  readonly toolChoice?: 'auto' | 'none' | 'required' | { readonly name: string };
  /** Structured output: the text is JSON that matches it. */
  readonly schema?: { readonly name?: string; readonly schema: JsonObject };
  readonly maxOutputTokens: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly stop?: readonly string[];
  readonly seed?: number;
  readonly reasoning?: 'off' | 'low' | 'medium' | 'high';
  /** The provider searches the web once, only on these sites if any are given; the answer has `sources`. */
  readonly search?: { readonly sites: readonly string[] };
  /** The provider may cache the system messages for requests with the same key only; the usage reports it. */
  readonly cacheKey?: string;
}

export type Finish = 'stop' | 'length' | 'tool-calls' | 'refusal';

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
  /** The provider reported none: estimated from the bytes. */
  readonly estimated?: true;
}

export type StreamPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string; readonly metadata?: JsonObject }
  /** A piece of the arguments of a tool call, which follows when it is complete. */
  | { readonly type: 'toolInput'; readonly text: string }
  | { readonly type: 'toolCall'; readonly call: ToolCallPart }
  /** From a search; a page may occur again with more facts. */
  | { readonly type: 'sources'; readonly sources: readonly Source[] }
  | EndPart;

export interface Source {
  readonly url: string;
  readonly title?: string;
  readonly snippet?: string;
}

export interface EndPart {
  readonly type: 'end';
  readonly finish: Finish;
  /** Absent if the provider reported none. */
  readonly usage?: Usage;
  /** The model that answered, if reported. */
  readonly model?: string;
}

/** How to reach a provider for one call. `fetch` is that of egress: it checks the destination and sets the real key. */
export interface Reach {
  readonly baseUrl: string;
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
  readonly idempotencyKey: string;
  /** A provider that says nothing for so long is broken. Default: 60 s. */
  readonly silenceMs?: number;
  /** Tenants take turns on the event loop. */
  readonly tenant?: string;
}

export interface ChatModel {
  stream(request: ModelRequest, reach: Reach): AsyncIterable<StreamPart>;
}

export type ModelFailureKind =
  /** Nothing was sent: the same attempt may be repeated. */
  | 'not-sent'
  /** 429, 503, 529: the provider requests a delay. */
  | 'limited'
  /** 408, 5xx, or a stream that was cut off, timed out, ended early or reported an error. */
  | 'broken'
  /** The account has no credit left: waiting does not help. */
  | 'quota'
  | 'key-rejected'
  | 'too-long'
  | 'unknown-model'
  /** Any other refusal of the request: repeating it does not help. */
  | 'rejected';

export class ModelFailure extends Error {
  override readonly name = 'ModelFailure';
  readonly kind: ModelFailureKind;
  readonly retryAfterMs?: number;
  readonly status?: number;
  /** The provider's own code, such as `moderation_blocked`. */
  readonly code?: string;
  /** A part of the request was served before it failed. */
  readonly served?: true;

  constructor(kind: ModelFailureKind, message: string, facts: ModelFailureFacts = {}) {
    super(message);
    this.kind = kind;
    if (facts.status !== undefined) this.status = facts.status;
    if (facts.retryAfterMs !== undefined) this.retryAfterMs = facts.retryAfterMs;
    if (facts.code !== undefined) this.code = facts.code;
    if (facts.served) this.served = true;
  }
}

export interface ModelFailureFacts {
  readonly status?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly code?: string | undefined;
  readonly served?: boolean;
}

export interface EmbedRequest {
  readonly model: string;
  readonly values: readonly string[];
  readonly dimensions?: number;
}
export interface EmbedAnswer {
  readonly embeddings: readonly (readonly number[])[];
  readonly inputTokens?: number;
}

export interface RerankRequest {
  readonly model: string;
  readonly query: string;
  readonly documents: readonly string[];
  /** The number of results to return. */
  readonly topN: number;
}
export interface RerankAnswer {
  /** Best first; `index` is the position in the documents. */
  readonly results: readonly { readonly index: number; readonly score: number }[];
  readonly inputTokens?: number;
}

export interface ImageRequest {
  readonly model: string;
  readonly prompt: string;
  readonly count: number;
  readonly width?: number;
  readonly height?: number;
  readonly seed?: number;
  /** With images, the request edits them; a mask limits the area. */
  readonly images?: readonly MediaPart[];
  readonly mask?: MediaPart;
}
export interface ImageAnswer {
  readonly images: readonly Media[];
  /** The number of images that the provider withheld for safety. */
  readonly filtered: number;
  readonly usage?: Usage;
}
export interface Media {
  readonly data: Uint8Array;
  readonly mimeType: string;
  /** For images and videos, if known. */
  readonly width?: number;
  readonly height?: number;
  readonly durationSeconds?: number;
}

export interface SpeechRequest {
  readonly model: string;
  readonly text: string;
  readonly voice?: string;
  readonly format?: 'mp3' | 'wav';
  readonly instructions?: string;
  readonly speed?: number;
  readonly language?: string;
}

export interface TranscriptionRequest {
  readonly model: string;
  readonly audio: Media;
  /** Two letters, such as `en`. */
  readonly language?: string;
}
export interface TranscriptionAnswer {
  readonly text: string;
  readonly language?: string;
  readonly durationSeconds?: number;
  readonly segments: readonly { readonly text: string; readonly from: number; readonly to: number }[];
}

export interface VideoRequest {
  readonly model: string;
  readonly prompt: string;
  readonly width?: number;
  readonly height?: number;
  readonly durationSeconds?: number;
  readonly includeAudio?: boolean;
  readonly negativePrompt?: string;
  readonly seed?: number;
  /** The first frame. */
  readonly image?: MediaPart;
}
export type VideoStatus =
  | { readonly state: 'pending' }
  | { readonly state: 'done'; readonly video: Media }
  | { readonly state: 'filtered' }
  | { readonly state: 'cancelled' }
  | { readonly state: 'failed'; readonly message: string };

/** Two steps, so that polling can continue after a restart: `operation` is all that `status` needs. */
export interface VideoModel {
  start(request: VideoRequest, reach: Reach): Promise<{ readonly operation: JsonObject }>;
  status(operation: JsonObject, reach: Reach): Promise<VideoStatus>;
}

/** The operations of one family of providers; an absent member is not supported. */
export interface ProviderFamily {
  readonly chat: ChatModel;
  embed?(request: EmbedRequest, reach: Reach): Promise<EmbedAnswer>;
  rerank?(request: RerankRequest, reach: Reach): Promise<RerankAnswer>;
  image?(request: ImageRequest, reach: Reach): Promise<ImageAnswer>;
  speech?(request: SpeechRequest, reach: Reach): Promise<Media>;
  transcribe?(request: TranscriptionRequest, reach: Reach): Promise<TranscriptionAnswer>;
  readonly video?: VideoModel;
}
