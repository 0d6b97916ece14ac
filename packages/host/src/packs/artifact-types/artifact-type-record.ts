/** The stored artifact types of a pack. */
import type { ArtifactType as RegisteredType } from '@gantry/engine';
import { type Archive, type ArtifactType, normalizePath } from '@gantry/packs';
import { given, type JsonObject, OpenwopError } from '@gantry/protocol';
import { compileUserSchema } from '../../workflows/user-schema.ts';

/** All schemas of one pack are compiled together, so their total size is limited too. */
const SCHEMAS_BYTES_MAX = 256 * 1024;

export interface ArtifactTypeRecord
  extends Pick<ArtifactType, 'artifactTypeId' | 'schemaVersion' | 'validation' | 'syncOn'> {
  /** The file as it is in the archive, so that readers get the same bytes. */
  readonly schemaText: string;
}

/** Refuses the whole pack if one schema cannot be used: a type is useless without its check. */
export function artifactTypeRecords(
  types: readonly ArtifactType[],
  files: Archive['files'],
): ArtifactTypeRecord[] {
  let bytes = 0;
  return types.map((type, index) => {
    const schemaText = schemaTextOf(type, files);
    bytes += Buffer.byteLength(schemaText);
    const reading = bytes > SCHEMAS_BYTES_MAX ? tooMuch : readSchemaText(schemaText);
    if (!reading.usable)
      throw new OpenwopError('pack_validation_failed', {
        message: `${type.artifactTypeId}: ${reading.problem}`,
        details: { path: `/artifactTypes/${index}`, artifactTypeId: type.artifactTypeId },
      });
    const { artifactTypeId, schemaVersion, validation, syncOn } = type;
    return given({ artifactTypeId, schemaText, schemaVersion, validation, syncOn });
  });
}

/** The part of the record that the compiler of workflows uses. */
export function artifactTypeOf({ schemaText, schemaVersion, syncOn }: ArtifactTypeRecord): RegisteredType {
  const reading = readSchemaText(schemaText);
  if (!reading.usable) throw new Error('a schema that was installed is unusable');
  return given({ schema: reading.schema, schemaVersion, syncOn });
}

const tooMuch = {
  usable: false,
  problem: `The schemas of one pack may have ${SCHEMAS_BYTES_MAX} bytes together.`,
} as const;

/** An older dialect has the schema inline in the manifest, so there is no file. */
function schemaTextOf({ schemaRef, schema = {} }: ArtifactType, files: Archive['files']): string {
  if (schemaRef === undefined) return JSON.stringify(schema);
  const bytes = files.get(normalizePath(schemaRef));
  if (bytes === undefined) throw new Error(`${schemaRef} was checked to be in the pack`);
  return Buffer.from(bytes).toString('utf8');
}

type Check = Exclude<ReturnType<typeof compileUserSchema>, string>;

type SchemaReading =
  | { readonly usable: true; readonly schema: JsonObject; readonly check: Check }
  | { readonly usable: false; readonly problem: string };

/** Published schemas have an address as `$id`; it is never fetched. */
export function readSchemaText(text: string): SchemaReading {
  const { $id: _id, $schema: _dialect, ...schema } = parse(text);
  const check = compileUserSchema(schema);
  return typeof check === 'string' ? { usable: false, problem: check } : { usable: true, schema, check };
}

/** The archive was checked before: the text is JSON, an object, `true` or `false`. */
function parse(text: string): JsonObject {
  const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
  if (value === false) return { not: {} };
  return value === true ? {} : (value as JsonObject);
}
