import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { isObject } from '@gantry/protocol';
import type { ProviderFamily, Reach } from '../model.ts';
import type { WireEnd } from './answer-events.ts';
import { chatModel } from './chat.ts';
import { embedding, images } from './media.ts';
import { rerank } from './rerank.ts';
import { isStrictSchema } from './strict-schema.ts';
import { KEY_PLACEHOLDER } from './transport.ts';

const provider = ({ baseUrl }: Reach, fetch: typeof globalThis.fetch) =>
  createOpenAICompatible({
    name: 'compatible',
    baseURL: baseUrl,
    apiKey: KEY_PLACEHOLDER,
    fetch,
    includeUsage: true,
    supportsStructuredOutputs: true,
  });

const end: WireEnd = {
  mark: /"finish_reason"\s*:\s*"/,
  endOf({ choices }) {
    const [first] = Array.isArray(choices) ? choices : [];
    return isObject(first) && first.finish_reason ? 'content' : undefined;
  },
  // Some servers repeat an empty choice beside the usage
  after: (event) => (event.usage ? { ...event, choices: [] } : undefined),
};

/** Servers with OpenAI's chat completions API: Ollama, vLLM, OpenRouter, Mistral and others. */
export const openaiCompatible: ProviderFamily = {
  chat: chatModel({
    end,
    model: (id, reach, fetch) => provider(reach, fetch).chatModel(id),
    options: ({ schema }) => ({
      compatible: { strictJsonSchema: schema === undefined || isStrictSchema(schema.schema) },
    }),
  }),
  embed: embedding((id, reach, fetch) => provider(reach, fetch).embeddingModel(id)),
  rerank,
  image: images(
    (id, reach, fetch) => provider(reach, fetch).imageModel(id),
    ({ width = 1024, height = 1024 }) => ({ size: `${width}x${height}`, aspectRatio: undefined }),
  ),
};
