import type { Api } from '@gantry/http';
import { PACK_KINDS, type PackKind } from '@gantry/packs';
import { closedObject } from '@gantry/protocol';
import Type from 'typebox';
import { documentOf, sendDocument } from '../derived/document.ts';
import { packEntry } from '../derived/pack-entry.ts';
import type { ReadDeps } from './read-deps.ts';

const LIMIT = 20;
const LIMIT_MAX = 100;

const KINDS = Object.keys(PACK_KINDS) as PackKind[];
export const QUERY_CHARS_MAX = 200;

const SEARCH = {
  summary: 'Search packs by name, tag, type and description',
  querystring: closedObject({
    q: Type.Optional(Type.String({ maxLength: QUERY_CHARS_MAX })),
    kind: Type.Optional(Type.Enum(KINDS)),
    cursor: Type.Optional(Type.String({ maxLength: 1024 })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMIT_MAX })),
  }),
};

export function searchRoutes(app: Api, { search, view }: ReadDeps): void {
  app.get('/v1/packs/-/search', { schema: SEARCH }, async (request, reply) => {
    const { q = '', limit = LIMIT, ...rest } = request.query;
    const { total, results, nextCursor } = search(view(request), { q, limit, ...rest });
    const answer = {
      q,
      total,
      results: results.map(packEntry),
      ...(nextCursor !== undefined && { nextCursor }),
    };
    return sendDocument(request, reply, documentOf(answer));
  });
}
