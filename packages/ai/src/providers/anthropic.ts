import { createAnthropic } from '@ai-sdk/anthropic';
import type { ProviderFamily } from '../model.ts';
import { chatModel } from './chat.ts';
import { KEY_PLACEHOLDER } from './transport.ts';

export const anthropic: ProviderFamily = {
  chat: chatModel({
    model: (id, { baseUrl }, fetch) =>
      createAnthropic({ baseURL: baseUrl, apiKey: KEY_PLACEHOLDER, fetch }).messages(id),
  }),
};
