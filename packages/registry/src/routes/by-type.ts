import type { Api } from '@gantry/http';
import { OpenwopError } from '@gantry/protocol';
import Type from 'typebox';
import type { PackSummary } from '../catalogue/catalogue.ts';
import { byRevision } from '../derived/by-revision.ts';
import { documentOf, sendDocument } from '../derived/document.ts';
import { packEntry } from '../derived/pack-entry.ts';
import type { ReadDeps } from './read-deps.ts';

const BY_TYPE = {
  summary: 'Packs that provide a type, by its exact id',
  params: Type.Object({ typeId: Type.String({ minLength: 1, maxLength: 256 }) }),
};

export function byTypeRoutes(app: Api, { view }: ReadDeps): void {
  const packsByType = byRevision((catalogue) => byType(catalogue.summaries()));
  app.get('/v1/packs/-/by-type/:typeId', { schema: BY_TYPE }, async (request, reply) => {
    const { typeId } = request.params;
    const packs = (await packsByType(view(request))).get(typeId);
    if (packs === undefined) {
      throw new OpenwopError('not_found', {
        message: 'No published pack provides this type. Search for a part of its name instead.',
      });
    }
    return sendDocument(request, reply, documentOf({ typeId, packs: packs.map(packEntry) }));
  });
}

/** Without packs whose versions are all yanked. */
function byType(packs: readonly PackSummary[]): ReadonlyMap<string, readonly PackSummary[]> {
  const found = new Map<string, PackSummary[]>();
  for (const pack of packs) {
    if (pack.yanked) continue;
    for (const typeId of pack.typeIds) {
      const others = found.get(typeId);
      if (others === undefined) found.set(typeId, [pack]);
      else others.push(pack);
    }
  }
  return found;
}
