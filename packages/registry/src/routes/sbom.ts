import type { Api } from '@gantry/http';
import { OpenwopError } from '@gantry/protocol';
import Type from 'typebox';
import { byRevision } from '../derived/by-revision.ts';
import { documentOf, documentRoute, sendDocument } from '../derived/document.ts';
import { registrySbom, versionSbom } from '../derived/sbom.ts';
import type { ReadDeps } from './read-deps.ts';

const VERSION_SBOM = {
  summary: 'The SBOM of a version, in CycloneDX 1.6',
  params: Type.Object({
    name: Type.String({ maxLength: 256 }),
    version: Type.String({ maxLength: 128 }),
  }),
};

/** Yanked versions keep their SBOM. */
export function sbomRoutes(app: Api, { view, profile }: ReadDeps): void {
  const whole = byRevision(async (catalogue) => documentOf(await registrySbom(catalogue, profile)));

  app.get('/v1/packs/:name/-/:version.sbom.json', { schema: VERSION_SBOM }, async (request, reply) => {
    const { name, version } = request.params;
    const published = await view(request).version(name, version);
    if (published === undefined) throw new OpenwopError('not_found');
    return sendDocument(request, reply, documentOf(versionSbom(published)));
  });
  documentRoute(app, '/v1/sbom.json', 'The SBOM of all versions, in CycloneDX 1.6', (request) =>
    whole(view(request)),
  );
}
