/** Artifact types that a tenant sees. */
import { ARTIFACT_FORMATS, type JsonObject } from '@gantry/protocol';
import { declaredPacks } from '../binding.ts';
import type { PackRecords } from '../pack-records.ts';
import type { ArtifactTypeRecord } from './artifact-type-record.ts';

/** Own packs before shared ones, the last installed first. If several register a type, the first wins. */
async function registered(records: PackRecords, tenant: string): Promise<Map<string, ArtifactTypeRecord>> {
  const packs = await declaredPacks(records, tenant, 'artifact-type');
  const types = packs.flatMap(({ declared }) => declared.types).reverse();
  return new Map(types.map((type) => [type.artifactTypeId, type]));
}

export const findArtifactType = async (
  records: PackRecords,
  tenant: string,
  artifactTypeId: string,
): Promise<ArtifactTypeRecord | undefined> => (await registered(records, tenant)).get(artifactTypeId);

/** Facets of every type, whether or not a pack registers it. Nothing is rendered. */
export const ARTIFACT_FACETS = { store: true, render: false, export: ARTIFACT_FORMATS } as const;

/** For the discovery document, by type. */
export async function artifactTypeFacets(records: PackRecords, tenant: string): Promise<JsonObject> {
  const types = [...(await registered(records, tenant)).values()];
  return Object.fromEntries(
    types.map(({ artifactTypeId, validation = 'open', schemaVersion = 0 }) => {
      const { export: formats, ...facets } = ARTIFACT_FACETS;
      const facts = { validated: true, validation, schemaVersion, registrationSource: 'pack' };
      return [artifactTypeId, { ...facts, ...facets, export: [...formats] }];
    }),
  );
}
