import { type Api, callerOf, HOST_ADMIN } from '@gantry/http';
import { OpenwopError } from '@gantry/protocol';
import Type from 'typebox';
import { PublishedAdvisory } from '../derived/advisory.ts';
import { documentOf, documentRoute } from '../derived/document.ts';
import type { ReadDeps } from './read-deps.ts';

const PUBLISH = {
  summary: 'Publish or correct a security advisory; affected versions must be yanked',
  params: Type.Object({ advisoryId: Type.String({ maxLength: 64 }) }),
  body: PublishedAdvisory,
};

export function advisoryRoutes(app: Api, { advisories, view }: ReadDeps): void {
  documentRoute(app, '/security/advisories.json', 'Security advisories', async (request) =>
    documentOf({ advisories: await advisories.seenBy(view(request).reader) }),
  );

  app.put('/v1/host/gantry/registry/advisories/:advisoryId', { schema: PUBLISH }, async (request, reply) => {
    const { scopes } = callerOf(request);
    // Advisories are published by the registry, not by one publisher.
    if (!scopes.has(HOST_ADMIN))
      throw new OpenwopError('forbidden', { details: { scopeRequired: HOST_ADMIN } });
    const { body } = request;
    if (body.id !== request.params.advisoryId) {
      throw new OpenwopError('validation_error', { message: 'body/id differs from the id in the path.' });
    }
    const outcome = await advisories.publish(body);
    return reply.code(outcome === 'created' ? 201 : 200).send({ outcome, advisory: body });
  });
}
