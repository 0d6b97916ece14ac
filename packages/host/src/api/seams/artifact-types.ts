/** Artifact types: installed from a manifest with its schemas, then judged as artifacts of runs are. */
import { hash } from 'node:crypto';
import type { Api } from '@gantry/http';
import { archiveOf, isFilePath, normalizePath } from '@gantry/packs';
import { type Json, OpenwopError, Values } from '@gantry/protocol';
import Type, { type Static } from 'typebox';
import { ArtifactTypes } from '../../packs/artifact-types/artifact-types.ts';
import type { Packs } from '../../packs/packs.ts';
import { seam } from './seam.ts';

const Install = Type.Object({ manifest: Values, schemas: Values });
const Installed = Type.Object({ installed: Type.Literal(true), artifactTypeIds: Type.Array(Type.String()) });
const Produce = Type.Object({
  artifactTypeId: Type.String({ minLength: 1, maxLength: 256 }),
  payload: Type.Unknown(),
});
const Produced = Type.Object({
  artifactId: Type.String(),
  registered: Type.Boolean(),
  validated: Type.Boolean(),
  stored: Type.Literal(false),
  rendered: Type.Literal(false),
  artifactCreated: Type.Optional(Values),
  problem: Type.Optional(Type.Object({ path: Type.String(), message: Type.String() })),
});

export function artifactTypeSeams(app: Api, { service, records }: Pick<Packs, 'service' | 'records'>): void {
  const types = new ArtifactTypes(records);

  seam(app, 'artifacttypes/install', [Install, Installed], async ({ tenant, keyId }, body) => {
    const { bytes } = await archiveOf(filesOf(body));
    const upload = { tenant, archive: bytes, source: 'archive', development: true } as const;
    const { record } = await service.install({ ...upload, grant: [], by: keyId });
    const { declared } = await records.version(record.integrity);
    if (declared?.kind !== 'artifact-type') throw new Error('another kind was installed');
    const artifactTypeIds = declared.types.map(({ artifactTypeId }) => artifactTypeId);
    return { installed: true as const, artifactTypeIds };
  });

  seam(app, 'artifacttypes/produce', [Produce, Produced], async ({ tenant }, body) => {
    const { artifactTypeId } = body;
    const payload = body.payload as Json;
    const artifactId = hash('sha256', JSON.stringify([artifactTypeId, payload]), 'hex').slice(0, 32);
    const artifact = { artifactId, artifactTypeId, payload };
    const production = await types.produce(tenant, artifact);
    // This host keeps no artifacts beside the run log, and draws none.
    const kept = { artifactId, stored: false, rendered: false } as const;
    if (!production.accepted) {
      const { path, message } = production;
      return { ...kept, registered: true, validated: false, problem: { path, message } };
    }
    const registered = production.created.registered === true;
    return { ...kept, registered, validated: registered, artifactCreated: production.created };
  });
}

/** The archive that the pack would be published as. */
function filesOf({ manifest, schemas }: Static<typeof Install>): Map<string, Buffer> {
  if (manifest.kind !== 'artifact-type') throw new OpenwopError('pack_kind_invalid');
  const files = new Map([['pack.json', Buffer.from(JSON.stringify(manifest))]]);
  const types: unknown[] = Array.isArray(manifest.artifactTypes) ? manifest.artifactTypes : [];
  for (const type of types) {
    const { artifactTypeId, schemaRef } = Object(type);
    const schema = schemas[String(artifactTypeId)];
    if (schema === undefined || typeof schemaRef !== 'string' || !isFilePath(schemaRef)) continue;
    const path = normalizePath(schemaRef);
    if (path !== 'pack.json') files.set(path, Buffer.from(JSON.stringify(schema)));
  }
  return files;
}
