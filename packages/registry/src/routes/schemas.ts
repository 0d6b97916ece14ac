import type { Api } from '@gantry/http';
import { OpenwopError } from '@gantry/protocol';
import Type from 'typebox';
import { sendDocument, textDocument } from '../derived/document.ts';
import type { ReadDeps } from './read-deps.ts';

const SCHEMA = {
  summary: 'A schema of a pack, at the address in its `$id`',
  params: Type.Object({
    name: Type.String({ maxLength: 256 }),
    version: Type.String({ maxLength: 128 }),
    schema: Type.String({ maxLength: 128, pattern: '^[A-Za-z0-9_][A-Za-z0-9._-]*\\.json$' }),
  }),
};

/**
 * Read from the archive, so it cannot differ from it. Schemas of yanked versions are not served; caches drop them
 * within minutes.
 */
export function schemaRoutes(app: Api, { view }: ReadDeps): void {
  app.get('/:name/:version/:schema', { schema: SCHEMA }, async (request, reply) => {
    const { name, version, schema } = request.params;
    const catalogue = view(request);
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
