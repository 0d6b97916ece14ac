import { type Api, callerOf } from '@gantry/http';
import { AiProviders, ownerOf } from '@gantry/protocol';
import type { Providers } from '../ai/providers/providers.ts';

const LIST = {
  summary: 'The model providers that the caller may name, and which of them can be asked now',
  response: { 200: AiProviders },
};

export function aiRoutes(app: Api, providers: Pick<Providers, 'list'>): void {
  app.get('/v1/host/gantry/ai/providers', { schema: LIST }, async (request) => {
    const { tenant, keyId } = callerOf(request);
    return { providers: await providers.list(ownerOf({ tenant, principal: keyId })) };
  });
}
