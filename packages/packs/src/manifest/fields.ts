/** Shapes that manifests of several kinds share. */
import Type, { type Static, type TObjectOptions, type TProperties } from 'typebox';

/** An object that has these members and no others. */
export const strict = <Members extends TProperties>(members: Members, options: TObjectOptions = {}) =>
  Type.Object(members, { ...options, additionalProperties: false });

const SCOPED = '\\.[a-z][a-z0-9_-]*(\\.[a-z][a-zA-Z0-9_-]*)+$';
const SEMVER = '^\\d+\\.\\d+\\.\\d+(?:-[0-9A-Za-z.-]+)?(?:\\+[0-9A-Za-z.-]+)?$';

/** `local` never comes from a registry; it is for folders in development. */
export const PackName = Type.String({
  maxLength: 256,
  pattern: `^(core|vendor|community|private|local)${SCOPED}`,
});
export const ReverseDns = new RegExp(`^(core|vendor|community|private|local)${SCOPED}`);
export const Version = Type.String({ maxLength: 128, pattern: SEMVER });
export const TypeId = Type.String({ maxLength: 256, pattern: '^[a-z][a-zA-Z0-9._-]*$' });
export const Label = Type.String({ minLength: 1, maxLength: 256 });
export const Text = Type.String({ maxLength: 4096 });
export const LongText = Type.String({ minLength: 1, maxLength: 65_536 });
export const Address = Type.String({ maxLength: 2048, pattern: '^[a-z][a-z0-9+.-]*:.' });
export const HttpsAddress = Type.String({ maxLength: 2048, pattern: '^https://.' });
/** A file of the pack. That it stays inside the pack is a rule of its own (`rules.ts`). */
export const FileRef = Type.String({ minLength: 1, maxLength: 512 });
export const Data = Type.Record(Type.String(), Type.Unknown());

export const ModelCapabilities = Type.Array(
  Type.String({ maxLength: 128, pattern: '^([a-z][a-z0-9-]*|x-host-[a-z][a-z0-9-]*-[a-z][a-z0-9-]*)$' }),
  { uniqueItems: true, maxItems: 32 },
);

/** The dialects of published packs: `manual` signs pack.json, `ed25519` the archive, `sigstore` pack.json. */
export const Signing = strict({
  method: Type.Optional(Type.Enum(['manual', 'ed25519', 'sigstore'])),
  publicKeyRef: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  keyId: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  publicKeyUrl: Type.Optional(Type.String({ maxLength: 2048 })),
  signatureRef: Type.Optional(FileRef),
});
export type Signing = Static<typeof Signing>;

/** Of a record whose values are to be checked: TypeBox passes over names with a line break, whatever their value. */
export const AnyName = Type.String({ pattern: '^[\\s\\S]*$' });
const Ranges = Type.Record(AnyName, Type.String({ maxLength: 128 }));

export const identity = {
  name: PackName,
  version: Version,
  description: Type.Optional(Type.String({ maxLength: 1024 })),
  author: Type.Optional(Text),
  license: Type.Optional(Text),
  homepage: Type.Optional(Address),
  repository: Type.Optional(Address),
  keywords: Type.Optional(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 50 })),
  engines: Type.Object({ openwop: Type.String({ minLength: 1, maxLength: 128 }) }),
  dependencies: Type.Optional(Ranges),
  peerDependencies: Type.Optional(Ranges),
  peerDependenciesMeta: Type.Optional(
    Type.Record(AnyName, strict({ optional: Type.Optional(Type.Boolean()) })),
  ),
  signing: Type.Optional(Signing),
} as const;

/** The manifest of a kind: the members of all kinds, and its own. */
export const manifestOf = <Kind extends string, Content extends TProperties>(kind: Kind, content: Content) =>
  strict({ ...identity, kind: Type.Literal(kind), ...content });
