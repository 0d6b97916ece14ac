import type { Api } from '@gantry/http';
import { byRevision } from '../derived/by-revision.ts';
import { documented, documentOf, sendDocument } from '../derived/document.ts';
import { indexOf } from '../derived/index-json.ts';
import type { ReadDeps } from './read-deps.ts';

export function indexRoutes(app: Api, { catalogue, now }: ReadDeps): void {
  const index = byRevision(catalogue, () =>
    documentOf(indexOf(catalogue.summaries(), new Date(now()).toISOString())),
  );
  app.get('/v1/index.json', { schema: documented('Every published pack') }, async (request, reply) =>
    sendDocument(request, reply, await index()),
  );
}
