import { type Api, callerOf } from '@gantry/http';
import { AiProviders, OpenwopError } from '@gantry/protocol';
import { INERT } from '@gantry/surfaces';
import Type from 'typebox';
import type { Ai } from '../ai/ai.ts';
import { MEDIA_ROOT } from '../ai/media-store.ts';
import type { Providers } from '../ai/providers/providers.ts';

const LIST = {
  summary: 'The model providers that the caller may name, and which of them can be asked now',
  response: { 200: AiProviders },
};
const Name = Type.String({ minLength: 1, maxLength: 256 });
const READ = {
  summary: 'Read what a model made, by its link',
  params: Type.Object({ tenant: Name, mediaId: Name }),
  response: { 200: Type.Unsafe<Uint8Array>({ type: 'string', format: 'binary' }) },
};

export function aiRoutes(app: Api, providers: Pick<Providers, 'list'>, { media }: Pick<Ai, 'media'>): void {
  app.get('/v1/host/gantry/ai/providers', { schema: LIST }, async (request) => ({
    providers: await providers.list(callerOf(request)),
  }));
  // The link is the credential
  app.get(`${MEDIA_ROOT}:tenant/:mediaId`, { schema: READ }, async (request, reply) => {
    const { tenant, mediaId } = request.params;
    const found = await media.read(tenant, mediaId);
    if (!found)
      throw new OpenwopError('not_found', { message: 'There is no such media, or its run is deleted.' });
    return reply.headers({ ...INERT, 'content-type': found.mimeType }).send(found.data);
  });
}
