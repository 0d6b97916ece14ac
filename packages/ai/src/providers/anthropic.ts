import { createAnthropic } from '@ai-sdk/anthropic';
import type { ProviderFamily } from '../model.ts';
import { chatModel } from './chat.ts';
import { KEY_PLACEHOLDER } from './transport.ts';

export const anthropic: ProviderFamily = {
  chat: chatModel({
    model: (id, { baseUrl }, fetch) =>
      createAnthropic({ baseURL: baseUrl, apiKey: KEY_PLACEHOLDER, fetch }).messages(id),
    search: (sites) => ({
      id: 'anthropic.web_search_20250305',
      args: { maxUses: 1, ...(sites.length > 0 && { allowedDomains: sites }) },
    }),
  }),
};
