import type { Api } from '@gantry/http';
import { OpenwopError } from '@gantry/protocol';
import Type from 'typebox';
import { sendDocument, textDocument } from '../derived/document.ts';
import type { ReadDeps } from './read-deps.ts';

const MIRROR = {
  summary: 'A schema at the address that its `$id` gives, as it stands in the archive',
  params: Type.Object({
    name: Type.String({ maxLength: 256 }),
    version: Type.String({ maxLength: 128 }),
    schema: Type.String({ maxLength: 128, pattern: '^[A-Za-z0-9_][A-Za-z0-9._-]*\\.json$' }),
  }),
};

/**
 * The archive is the source, so the mirror cannot differ from it. What is withdrawn or was never published is
 * not shown; caches forget it in minutes.
 */
export function schemaRoutes(app: Api, { catalogue }: ReadDeps): void {
  app.get('/:name/:version/:schema', { schema: MIRROR }, async (request, reply) => {
    const { name, version, schema } = request.params;
    const path = `schemas/${schema}`;
    const published = await catalogue.version(name, version);
    const bytes =
      published === undefined || published.yank !== undefined || !published.files.includes(path)
        ? undefined
        : await catalogue.file(published, path);
    if (bytes === undefined) throw new OpenwopError('not_found');
    return sendDocument(request, reply, textDocument(bytes.toString('utf8')));
  });
}
