/** Serves the schemas of the envelope kinds that runs of this host accept, at the path that the protocol defines. */
import { UNIVERSAL_KINDS } from '@gantry/ai';
import type { Api } from '@gantry/http';
import { closedObject, OpenwopError } from '@gantry/protocol';
import Type from 'typebox';

const SUFFIX = '.schema.json';

export function envelopeSchemaRoute(app: Api): void {
  app.get(
    '/schemas/envelopes/:file',
    {
      schema: {
        summary: 'Read the schema of a kind of envelope',
        params: closedObject({ file: Type.String({ minLength: 1, maxLength: 256 }) }),
        response: { 200: Type.String() },
      },
    },
    async (request, reply) => {
      const { file } = request.params;
      const name = file.endsWith(SUFFIX) ? file.slice(0, -SUFFIX.length) : '';
      const kind = Object.hasOwn(UNIVERSAL_KINDS, name) ? UNIVERSAL_KINDS[name] : undefined;
      if (!kind) throw new OpenwopError('not_found');
      void reply.header('cache-control', 'public, max-age=300').type('application/schema+json');
      return JSON.stringify({ $schema: 'https://json-schema.org/draft/2020-12/schema', ...kind.schema });
    },
  );
}
