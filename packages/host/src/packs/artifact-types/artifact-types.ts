/** Artifact types that a tenant sees, and what becomes of an artifact of one. */
import type { Json, JsonObject } from '@gantry/protocol';
import { declaredPacks } from '../binding.ts';
import type { PackRecords } from '../pack-records.ts';
import { readSchemaText } from './schema-text.ts';

const CHECKS_CACHED_MAX = 200;

export interface RegisteredType {
  readonly schemaText: string;
  /** Of the pack that brings it. */
  readonly integrity: string;
}

export interface Artifact {
  readonly artifactId: string;
  readonly artifactTypeId: string;
  readonly payload: Json;
  readonly nodeId?: string;
}

/** What `artifact.created` says, or why it must not be said. */
export type Production =
  | { readonly accepted: true; readonly created: JsonObject }
  | { readonly accepted: false; readonly path: string; readonly message: string };

type Check = (payload: Json) => { readonly path: string; readonly message: string } | undefined;

export class ArtifactTypes {
  readonly #records: PackRecords;
  /** A pack never changes under its integrity, so nothing here grows stale. */
  readonly #checks = new Map<string, Check>();

  constructor(records: PackRecords) {
    this.#records = records;
  }

  /** Own packs before shared ones, the last installed first. */
  async find(tenant: string, artifactTypeId: string): Promise<RegisteredType | undefined> {
    for (const { declared, integrity } of await declaredPacks(this.#records, tenant, 'artifact-type')) {
      const type = declared.types.find((candidate) => candidate.artifactTypeId === artifactTypeId);
      if (type) return { schemaText: type.schemaText, integrity };
    }
    return undefined;
  }

  /** A type that nobody registered is a type all the same: taken as it is, and marked. */
  async produce(tenant: string, artifact: Artifact): Promise<Production> {
    const { artifactId, artifactTypeId, payload, nodeId } = artifact;
    const about = { artifactId, artifactType: artifactTypeId, ...(nodeId !== undefined && { nodeId }) };
    const type = await this.find(tenant, artifactTypeId);
    if (!type) return { accepted: true, created: { ...about, registered: false } };
    const problem = this.#checkOf(artifactTypeId, type)(payload);
    if (problem) return { accepted: false, ...problem };
    return { accepted: true, created: { ...about, registered: true, registrationSource: 'pack' } };
  }

  #checkOf(artifactTypeId: string, { integrity, schemaText }: RegisteredType): Check {
    const key = `${integrity}\0${artifactTypeId}`;
    const present = this.#checks.get(key);
    if (present) return present;
    const reading = readSchemaText(schemaText);
    if (!reading.usable) throw new Error(`${artifactTypeId}: a schema that was installed is unusable`);
    this.#checks.set(key, reading.check);
    if (this.#checks.size > CHECKS_CACHED_MAX) this.#checks.delete(this.#checks.keys().next().value!);
    return reading.check;
  }
}
