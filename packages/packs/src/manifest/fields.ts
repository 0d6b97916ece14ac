/** Schemas that several kinds of manifests share. */
import Type, {
  type Static,
  type TArrayOptions,
  type TObjectOptions,
  type TOptional,
  type TProperties,
  type TSchema,
} from 'typebox';

type Members<Notation> = {
  [Key in keyof Notation as Key extends `${string}?` ? never : Key]: Notation[Key];
} & {
  [Key in keyof Notation as Key extends `${infer Name}?` ? Name : never]: TOptional<Notation[Key] & TSchema>;
};

/** A closed object with these members. A name that ends with `?` is an optional member. */
export const strict = <Notation extends TProperties>(notation: Notation, options: TObjectOptions = {}) =>
  Type.Object(membersOf(notation), { ...options, additionalProperties: false });

/** An open object with these members. */
export const open = <Notation extends TProperties>(notation: Notation) => Type.Object(membersOf(notation));

const membersOf = <Notation extends TProperties>(notation: Notation) =>
  Object.fromEntries(
    Object.entries(notation).map(([name, schema]) =>
      name.endsWith('?') ? [name.slice(0, -1), Type.Optional(schema)] : [name, schema],
    ),
  ) as Members<Notation>;

export const text = (maxLength: number, minLength = 0) => Type.String({ minLength, maxLength });
export const matching = (pattern: string, maxLength?: number) =>
  Type.String({ pattern, ...(maxLength && { maxLength }) });
export const list = <Item extends TSchema>(item: Item, maxItems: number, options: TArrayOptions = {}) =>
  Type.Array(item, { maxItems, ...options });
export const set = <Item extends TSchema>(item: Item, maxItems: number) =>
  list(item, maxItems, { uniqueItems: true });
/** A non-empty list. */
export const some = <Item extends TSchema>(item: Item, maxItems: number) =>
  list(item, maxItems, { minItems: 1 });

const SEMVER = '^\\d+\\.\\d+\\.\\d+(?:-[0-9A-Za-z.-]+)?(?:\\+[0-9A-Za-z.-]+)?$';

/** `local` never comes from a registry; it is for folders in development. */
const REVERSE_DNS = '^(core|vendor|community|private|local)\\.[a-z][a-z0-9_-]*(\\.[a-z][a-zA-Z0-9_-]*)+$';
export const PackName = matching(REVERSE_DNS, 256);
export const ReverseDns = new RegExp(REVERSE_DNS);
export const Version = matching(SEMVER, 128);
export const TypeId = matching('^[a-z][a-zA-Z0-9._-]*$', 256);
export const Label = text(256, 1);
export const Text = text(4096);
export const LongText = text(65_536, 1);
export const Address = matching('^[a-z][a-z0-9+.-]*:.', 2048);
export const HttpsAddress = matching('^https://.', 2048);
/** A file of the pack. A separate rule checks that it is inside the pack (`rules.ts`). */
export const FileRef = text(512, 1);
export const Data = Type.Record(Type.String(), Type.Unknown());
export const Flag = Type.Boolean();
export const Scopes = list(text(256), 100);

export const ModelCapabilities = set(
  matching('^([a-z][a-z0-9-]*|x-host-[a-z][a-z0-9-]*-[a-z][a-z0-9-]*)$', 128),
  32,
);

/** The dialects of published packs: `manual` signs pack.json, `ed25519` the archive, `sigstore` pack.json. */
export const Signing = strict({
  'method?': Type.Enum(['manual', 'ed25519', 'sigstore']),
  'publicKeyRef?': Label,
  'keyId?': Label,
  'publicKeyUrl?': text(2048),
  'signatureRef?': FileRef,
});
export type Signing = Static<typeof Signing>;

/** For a record whose values must be checked: TypeBox skips names with a line break, whatever their value. */
export const AnyName = matching('^[\\s\\S]*$');
const Ranges = Type.Record(AnyName, text(128));

export const identity = {
  name: PackName,
  version: Version,
  engines: Type.Object({ openwop: text(128, 1) }),
  'description?': text(1024),
  'author?': Text,
  'license?': Text,
  'homepage?': Address,
  'repository?': Address,
  'keywords?': list(text(64), 50),
  'dependencies?': Ranges,
  'peerDependencies?': Ranges,
  'peerDependenciesMeta?': Type.Record(AnyName, strict({ 'optional?': Flag })),
  'signing?': Signing,
};
const Identity = strict(identity);
export type Identity = Static<typeof Identity>;

/** The manifest of a kind: the members of all kinds, and its own. */
export const manifestOf = <Kind extends string, Content extends TProperties>(kind: Kind, content: Content) =>
  strict({ ...identity, kind: Type.Literal(kind), ...content });
