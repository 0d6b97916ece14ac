import type { Api } from '@gantry/http';
import Type from 'typebox';
import { documentOf, sendDocument } from '../derived/document.ts';
import { packEntry } from '../derived/pack-entry.ts';
import type { ReadDeps } from './read-deps.ts';
import { SearchParameters } from './search-parameters.ts';

const LIMIT = 20;
const LIMIT_MAX = 100;

const SEARCH = {
  summary: 'Search packs by words of their names, tags, types and descriptions',
  querystring: Type.Object(
    { ...SearchParameters, limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMIT_MAX })) },
    { additionalProperties: false },
  ),
};

export function searchRoutes(app: Api, { search }: ReadDeps): void {
  app.get('/v1/packs/-/search', { schema: SEARCH }, async (request, reply) => {
    const { q = '', limit = LIMIT, ...rest } = request.query;
    const { total, results, nextCursor } = search({ q, limit, ...rest });
    const answer = {
      q,
      total,
      results: results.map(packEntry),
      ...(nextCursor !== undefined && { nextCursor }),
    };
    return sendDocument(request, reply, documentOf(answer));
  });
}
