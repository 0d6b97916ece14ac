import { createGoogle } from '@ai-sdk/google';
import { isObject } from '@gantry/protocol';
import type { ImageRequest, ProviderFamily, Reach } from '../model.ts';
import type { WireEnd } from './answer-events.ts';
import { chatModel } from './chat.ts';
import { embedding, images, speech } from './media.ts';
import { KEY_PLACEHOLDER } from './transport.ts';
import { videoModel } from './video.ts';

const provider = ({ baseUrl }: Reach, fetch: typeof globalThis.fetch) =>
  createGoogle({ baseURL: baseUrl, apiKey: KEY_PLACEHOLDER, fetch });

const RATIOS = ['1:1', '3:4', '4:3', '9:16', '16:9'] as const;

/** The supported ratio nearest to the requested one. */
function aspectRatio({ width = 1, height = 1 }: ImageRequest): (typeof RATIOS)[number] {
  const wanted = Math.log(width / height);
  const far = (ratio: string) => {
    const [across = 1, down = 1] = ratio.split(':').map(Number);
    return Math.abs(Math.log(across / down) - wanted);
  };
  return RATIOS.reduce((best, ratio) => (far(ratio) < far(best) ? ratio : best));
}

const end: WireEnd = {
  mark: /"finishReason"/,
  endOf({ candidates }) {
    const [first] = Array.isArray(candidates) ? candidates : [];
    return isObject(first) && first.finishReason ? 'content' : undefined;
  },
  after: ({ usageMetadata }) => (usageMetadata ? { usageMetadata } : undefined),
};

export const google: ProviderFamily = {
  // It has no parameter for sites: the query names them
  chat: chatModel({
    end,
    model: (id, reach, fetch) => provider(reach, fetch).chat(id),
    search: () => ({ id: 'google.google_search', args: {} }),
  }),
  embed: embedding((id, reach, fetch) => provider(reach, fetch).embedding(id)),
  image: images(
    (id, reach, fetch) => provider(reach, fetch).image(id),
    (request) => ({ size: undefined, aspectRatio: aspectRatio(request) }),
  ),
  speech: speech((id, reach, fetch) => provider(reach, fetch).speech(id)),
  video: videoModel((id, reach, fetch) => provider(reach, fetch).video(id)),
};
