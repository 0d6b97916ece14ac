import type { Api } from '@gantry/http';
import { describeRegistry } from '../derived/discovery.ts';
import { documented, documentOf, sendDocument } from '../derived/document.ts';
import type { ReadDeps } from './read-deps.ts';

const SCHEMA = documented('How the registry describes itself');

/** Static registries serve a file, so clients ask for either name. */
export function discoveryRoutes(app: Api, { profile, directory }: ReadDeps): void {
  for (const url of ['/.well-known/openwop-registry', '/.well-known/openwop-registry.json']) {
    app.get(url, { schema: SCHEMA }, async (request, reply) =>
      sendDocument(request, reply, documentOf(await describeRegistry(profile, directory))),
    );
  }
}
