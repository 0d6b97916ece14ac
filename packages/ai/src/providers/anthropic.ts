import { createAnthropic } from '@ai-sdk/anthropic';
import { isObject } from '@gantry/protocol';
import type { ProviderFamily } from '../model.ts';
import type { WireEnd } from './answer-events.ts';
import { chatModel } from './chat.ts';
import { KEY_PLACEHOLDER } from './transport.ts';

const end: WireEnd = {
  mark: /"message_(delta|stop)"/,
  endOf({ type, delta }) {
    if (type === 'message_stop') return 'all';
    return type === 'message_delta' && isObject(delta) && delta.stop_reason ? 'content' : undefined;
  },
  after: (event) => (event.type === 'message_stop' ? event : undefined),
};

export const anthropic: ProviderFamily = {
  chat: chatModel({
    end,
    model: (id, { baseUrl }, fetch) =>
      createAnthropic({ baseURL: baseUrl, apiKey: KEY_PLACEHOLDER, fetch }).messages(id),
    search: (sites) => ({
      id: 'anthropic.web_search_20250305',
      args: { maxUses: 1, ...(sites.length > 0 && { allowedDomains: sites }) },
    }),
  }),
};
