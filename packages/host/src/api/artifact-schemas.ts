/** Serves the schemas of artifact types at the path where clients expect them. */
import { hash } from 'node:crypto';
import { type Api, callerOf, notModified } from '@gantry/http';
import { OpenwopError } from '@gantry/protocol';
import Type from 'typebox';
import { findArtifactType } from '../packs/artifact-types/artifact-types.ts';
import type { PackRecords } from '../packs/pack-records.ts';

const READ = {
  summary: 'Read the schema of an artifact type, byte for byte as its pack has it',
  params: Type.Object({ artifactTypeId: Type.String({ minLength: 1, maxLength: 256 }) }),
  response: { 200: Type.Record(Type.String(), Type.Unknown()) },
};

export function artifactSchemaRoute(app: Api, records: PackRecords): void {
  app.get(
    '/schemas/artifacts/:artifactTypeId(^[a-z][a-zA-Z0-9._-]*).schema.json',
    { schema: READ },
    async (request, reply) => {
      const { artifactTypeId } = request.params;
      const type = await findArtifactType(records, callerOf(request).tenant, artifactTypeId);
      if (!type)
        throw new OpenwopError('not_found', {
          message: 'No pack that is installed here brings this artifact type.',
        });
      const { schemaText } = type;
      void reply.header('cache-control', 'private, max-age=60').type('application/schema+json');
      if (notModified(request, reply, `"${hash('sha256', schemaText, 'hex').slice(0, 32)}"`)) return '';
      return schemaText;
    },
  );
}
