/** Artifact types: installed from a manifest with its schemas. Runs make artifacts of them. */
import type { Api, Caller } from '@gantry/http';
import { isFilePath, normalizePath } from '@gantry/packs';
import { invalid, type Json, type JsonObject, OpenwopError, Values } from '@gantry/protocol';
import type { RunKey } from '@gantry/store';
import Type, { type Static } from 'typebox';
import { findArtifactType } from '../../packs/artifact-types/artifact-types.ts';
import type { Packs } from '../../packs/packs.ts';
import { definition, node, seamIdFor } from './definition.ts';
import type { Drive } from './drive.ts';
import { install } from './install.ts';
import { sampleOf } from './schema-sample.ts';
import { seam } from './seam.ts';

const Install = Type.Object({ manifest: Values, schemas: Values });
const TypeId = Type.String({ minLength: 1, maxLength: 256 });
const Produce = Type.Object({ artifactTypeId: TypeId, payload: Type.Unknown() });
const RunProduce = Type.Object({ artifactTypeId: TypeId });

/** The type that the suite uses when discovery names none. */
const NOTE = 'vendor.conformance.note';
const NOTES = {
  manifest: {
    kind: 'artifact-type',
    name: 'vendor.conformance.notes',
    version: '1.0.0',
    engines: { openwop: '>=1.1' },
    artifactTypes: [{ artifactTypeId: NOTE, schemaVersion: 1, schemaRef: 'schemas/note.schema.json' }],
  },
  schemas: {
    [NOTE]: {
      type: 'object',
      additionalProperties: false,
      required: ['title', 'body'],
      properties: { title: { type: 'string' }, body: { type: 'string' } },
    },
  },
};

const PRODUCER = 'artifact';

/** A node whose outputs are its inputs. */
function produce(drive: Drive, caller: Caller, artifactType: string, payload: Json): Promise<RunKey> {
  const inputs = { artifact: { type: 'static', value: payload } } as const;
  const id = seamIdFor('artifact', { artifactType, payload });
  return drive.start(caller, [definition(id, [node(PRODUCER, 'core.identity', { artifactType, inputs })])]);
}

export function artifactTypeSeams(
  app: Api,
  { service, records }: Pick<Packs, 'service' | 'records'>,
  drive: Drive,
): void {
  const installed = async (caller: Caller, body: Static<typeof Install>): Promise<string[]> => {
    const { record } = await install(service, caller, body.manifest, schemaFiles(body));
    const { declared } = await records.version(record.integrity);
    if (declared?.kind !== 'artifact-type') throw new Error('another kind was installed');
    return declared.types.map(({ artifactTypeId }) => artifactTypeId);
  };

  seam(app, 'artifacttypes/install', Install, async (caller, body) => ({
    installed: true as const,
    artifactTypeIds: await installed(caller, body),
  }));

  seam(app, 'artifacttypes/produce', Produce, async (caller, body) => {
    const { artifactTypeId } = body;
    const key = await produce(drive, caller, artifactTypeId, body.payload as Json);
    const { run } = await drive.atRest(key);
    const told = (await drive.events(key)).find(({ type }) => type === 'artifact.created');
    const isKnown = (await findArtifactType(records, caller.tenant, artifactTypeId)) !== undefined;
    const { message = '', details } = run.error ?? {};
    return {
      runId: key.runId,
      artifactId: PRODUCER,
      registered: isKnown,
      validated: isKnown && told !== undefined,
      stored: told !== undefined,
      rendered: false as const,
      runStatus: run.status,
      ...(told && { artifactCreated: told.payload }),
      ...(run.error && { problem: { path: String(details?.path ?? '/'), message } }),
    };
  });

  seam(app, 'artifacttypes/runproduce', RunProduce, async (caller, { artifactTypeId }) => {
    const known = () => findArtifactType(records, caller.tenant, artifactTypeId);
    if (artifactTypeId === NOTE && !(await known())) await installed(caller, NOTES);
    const type = await known();
    if (!type)
      throw invalid(`No installed pack registers the artifact type ${artifactTypeId}.`, {
        key: 'artifactTypeId',
      });
    const schema: JsonObject = JSON.parse(type.schemaText);
    const { runId } = await produce(drive, caller, artifactTypeId, sampleOf(schema));
    return { runId };
  });
}

/** The schemas by their paths in the archive of the pack. */
function schemaFiles({ manifest, schemas }: Static<typeof Install>): Record<string, string> {
  if (manifest.kind !== 'artifact-type') throw new OpenwopError('pack_kind_invalid');
  const files: Record<string, string> = {};
  const types: unknown[] = Array.isArray(manifest.artifactTypes) ? manifest.artifactTypes : [];
  for (const type of types) {
    const { artifactTypeId, schemaRef } = Object(type);
    const schema = schemas[String(artifactTypeId)];
    if (schema === undefined || typeof schemaRef !== 'string' || !isFilePath(schemaRef)) continue;
    files[normalizePath(schemaRef)] = JSON.stringify(schema);
  }
  return files;
}
