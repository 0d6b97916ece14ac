import { isObject, OpenwopError } from '@gantry/protocol';
import Type, { type Static } from 'typebox';
import { Check, Errors } from 'typebox/schema';
import { indexOfDuplicate } from '../json.ts';
import { matching, strict, text } from '../manifest/fields.ts';
import { readJsonSource } from '../manifest/json-source.ts';

export const LOCKFILE_NAME = 'pack-lock.json';
export const LOCKFILE_VERSION = 1;

const Version = text(64, 1);
const Versions = Type.Record(text(256), Version, { maxProperties: 10_000 });
const Address = matching('^[a-zA-Z][a-zA-Z0-9+.-]*:\\S+$', 2048);

export const LockedPack = strict({
  name: matching('^(core|vendor|community|private|local)\\.[a-z0-9][a-zA-Z0-9._-]*$', 256),
  version: matching('^\\d+\\.\\d+\\.\\d+[0-9A-Za-z.+-]*$', 64),
  'resolved?': Address,
  integrity: matching('^sha256-[A-Za-z0-9+/]{43}=$'),
  'signature?': strict({
    algorithm: Type.Literal('ed25519'),
    publicKey: text(4096, 1),
    value: text(1024, 1),
  }),
  'dependencies?': Versions,
  'peerDependencies?': Versions,
});
export type LockedPack = Static<typeof LockedPack>;

/** Open at the top level: members of a later minor version are kept. */
export const PackLock = Type.Object({
  lockfileVersion: Type.Integer({ minimum: 1 }),
  generatedAt: Type.String({ maxLength: 64, pattern: '^\\d{4}-\\d\\d-\\d\\dT' }),
  registry: Type.Optional(Address),
  fallbackRegistries: Type.Optional(Type.Array(Address, { maxItems: 100 })),
  overrides: Type.Optional(Versions),
  packs: Type.Array(LockedPack, { maxItems: 10_000 }),
});
export type PackLock = Static<typeof PackLock>;

const BYTES_MAX = 16 * 1024 * 1024;
const DEPTH_MAX = 16;

/** Parses a lockfile, or throws `pack_lockfile_invalid` with the position of the error. */
export function readLock(text: string): PackLock {
  if (Buffer.byteLength(text) > BYTES_MAX) throw invalid(START, `It is larger than ${BYTES_MAX} bytes.`);
  const source = readJsonSource(text, { depthMax: DEPTH_MAX });
  if (source.kind === 'broken') throw invalid(source.position, source.message);
  const { value } = source;
  const invalidAt = (path: string, why: string) => invalid(source.positionOf(path), why, path);
  if (!isObject(value)) throw invalid(START, 'A lockfile is an object.');
  const { lockfileVersion } = value;
  if (typeof lockfileVersion === 'number' && lockfileVersion > LOCKFILE_VERSION) {
    const why = `It has lockfileVersion ${lockfileVersion}; this reader knows ${LOCKFILE_VERSION}.`;
    throw invalidAt('/lockfileVersion', why);
  }
  if (!Check(PackLock, value)) {
    const [first] = Errors(PackLock, value)[1];
    throw invalidAt(first?.instancePath ?? '', `It ${first?.message ?? 'is not valid'}.`);
  }
  // One version per pack: a second entry would be ambiguous.
  const names = value.packs.map(({ name }) => name);
  const twice = indexOfDuplicate(names);
  if (twice >= 0) throw invalidAt(`/packs/${twice}/name`, `${names[twice]} is listed twice.`);
  return value;
}

const START = { line: 1, column: 1 };

const invalid = ({ line, column }: typeof START, why: string, path = ''): OpenwopError =>
  new OpenwopError('pack_lockfile_invalid', {
    message: `The lockfile is not valid at line ${line}, column ${column}: ${why} Correct it, or create the lockfile again.`,
    details: { path, line, column },
  });

/**
 * The canonical form of a lockfile, so that the same resolution produces the same bytes: packs by name and version,
 * maps by key, two spaces, one newline at the end. Unknown members come last, by name.
 */
export function writeLock(lock: PackLock): string {
  const { lockfileVersion, generatedAt, registry, fallbackRegistries, overrides, packs, ...unknown } = lock;
  // Undefined members are omitted from JSON.
  const document = {
    lockfileVersion,
    generatedAt,
    registry,
    fallbackRegistries,
    overrides: overrides && sorted(overrides),
    packs: packs.toSorted(byNameThenVersion).map(packEntry),
    ...sorted(unknown),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function packEntry({ name, version, resolved, integrity, signature, ...maps }: LockedPack): object {
  const { algorithm, publicKey, value } = signature ?? {};
  return {
    name,
    version,
    resolved,
    integrity,
    signature: signature && { algorithm, publicKey, value },
    dependencies: sorted(maps.dependencies ?? {}),
    peerDependencies: sorted(maps.peerDependencies ?? {}),
  };
}

const compare = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);

const sorted = <T>(map: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(map).sort(([left], [right]) => compare(left, right)));

const byNameThenVersion = (left: LockedPack, right: LockedPack): number =>
  compare(left.name, right.name) || compare(left.version, right.version);
