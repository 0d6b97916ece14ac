import { createOpenAI } from '@ai-sdk/openai';
import type { ImageRequest, ProviderFamily, Reach } from '../model.ts';
import type { WireEnd } from './answer-events.ts';
import { chatModel } from './chat.ts';
import { embedding, images, speech, transcription } from './media.ts';
import { isStrictSchema } from './strict-schema.ts';
import { KEY_PLACEHOLDER } from './transport.ts';

const provider = ({ baseUrl }: Reach, fetch: typeof globalThis.fetch) =>
  createOpenAI({ baseURL: baseUrl, apiKey: KEY_PLACEHOLDER, fetch });

/** The models support a few sizes: selects the one with the same orientation. */
function size({ model, width = 1024, height = 1024 }: ImageRequest): `${number}x${number}` {
  const long = model.startsWith('dall-e-3') ? 1792 : 1536;
  if (width === height || model.startsWith('dall-e-2')) return '1024x1024';
  return width > height ? `${long}x1024` : `1024x${long}`;
}

const ENDS: readonly unknown[] = ['response.completed', 'response.incomplete', 'response.failed'];
const end: WireEnd = {
  mark: /"response\.(completed|incomplete|failed)"/,
  endOf: ({ type }) => (ENDS.includes(type) ? 'all' : undefined),
};

/** The Responses API stores requests unless that is disabled; thoughts are then returned encrypted. */
export const openai: ProviderFamily = {
  chat: chatModel({
    end,
    model: (id, reach, fetch) => provider(reach, fetch).responses(id),
    options: ({ schema, cacheKey, search }) => ({
      openai: {
        store: false,
        strictJsonSchema: schema === undefined || isStrictSchema(schema.schema),
        ...(cacheKey !== undefined && { promptCacheKey: cacheKey }),
        ...(search && { maxToolCalls: 1 }),
      },
    }),
    search: (sites) => ({
      id: 'openai.web_search',
      args: sites.length > 0 ? { filters: { allowedDomains: sites } } : {},
    }),
  }),
  embed: embedding((id, reach, fetch) => provider(reach, fetch).embedding(id)),
  image: images(
    (id, reach, fetch) => provider(reach, fetch).image(id),
    (request) => ({ size: size(request), aspectRatio: undefined }),
  ),
  speech: speech((id, reach, fetch) => provider(reach, fetch).speech(id)),
  transcribe: transcription((id, reach, fetch) => provider(reach, fetch).transcription(id)),
};
