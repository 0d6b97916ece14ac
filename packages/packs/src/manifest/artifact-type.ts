import Type, { type Static } from 'typebox';
import { closed, Data, FileRef, identity, TypeId } from './fields.ts';

const Rendering = Type.Object(
  {
    display: Type.Optional(Type.Enum(['markdown', 'code', 'image', 'audio', 'file'])),
    mimeType: Type.Optional(Type.String({ maxLength: 255 })),
    lang: Type.Optional(Type.String({ maxLength: 64 })),
    alt: Type.Optional(Type.String({ maxLength: 1024 })),
  },
  closed,
);

const EXPORT_FORMAT = '^([a-z][a-z0-9]*|vendor\\.[a-z][a-z0-9-]*\\.[a-z][a-z0-9-]*|x-[a-z][a-z0-9-]*)$';
const ExportFormats = Type.Array(Type.String({ minLength: 1, maxLength: 64, pattern: EXPORT_FORMAT }), {
  uniqueItems: true,
  maxItems: 50,
});

/** `schema`, `title` and `export` are an older dialect that one published pack still speaks. */
export const ArtifactType = Type.Object(
  {
    artifactTypeId: TypeId,
    schemaRef: Type.Optional(FileRef),
    schema: Type.Optional(Data),
    schemaVersion: Type.Optional(Type.Integer({ minimum: 0 })),
    validation: Type.Optional(Type.Enum(['open', 'closed'])),
    displayName: Type.Optional(Type.String({ maxLength: 256 })),
    title: Type.Optional(Type.String({ maxLength: 256 })),
    rendering: Type.Optional(Rendering),
    exportFormats: Type.Optional(ExportFormats),
    export: Type.Optional(ExportFormats),
    syncOn: Type.Optional(Type.Enum(['completion', 'approval', 'manual'])),
    supportsCheckpoint: Type.Optional(Type.Boolean()),
    versionable: Type.Optional(Type.Boolean()),
    diffable: Type.Optional(Type.Boolean()),
  },
  closed,
);
export type ArtifactType = Static<typeof ArtifactType>;

export const ArtifactTypePackManifest = Type.Object(
  {
    ...identity,
    kind: Type.Literal('artifact-type'),
    artifactTypes: Type.Array(ArtifactType, { minItems: 1, maxItems: 200 }),
  },
  closed,
);
export type ArtifactTypePackManifest = Static<typeof ArtifactTypePackManifest>;
