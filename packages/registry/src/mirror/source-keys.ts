/** What another registry says of keys and namespaces, as far as it concerns the packs that are copied. */
import {
  type CopyableRegistry,
  type Keychain,
  keyIdOf,
  permits,
  readDiscovery,
  readKeychain,
  readPublicKey,
} from '@gantry/packs';
import Type, { type Static } from 'typebox';
import { Check } from 'typebox/value';
import type { NamespaceAssignment } from '../derived/discovery.ts';
import type { MirroredKey } from './mirrored-keys.ts';

/** Key ids become names of files. */
const KEY_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const KEYS_MAX = 1_000;
const Text = Type.String({ maxLength: 256 });

const Assignment = Type.Object({
  namespace: Text,
  owner: Text,
  signingKeyId: Type.Optional(Text),
  claimedAt: Type.String({ maxLength: 64 }),
  contact: Type.Optional(Text),
});
/** What discovery says beyond what verifying needs. */
const More = Type.Object({
  signingKeys: Type.Optional(
    Type.Array(Type.Object({ keyId: Text, algorithm: Type.Optional(Text), operator: Type.Optional(Text) })),
  ),
  namespaceAssignments: Type.Optional(Type.Array(Type.Unknown(), { maxItems: 10_000 })),
});

type Listed = NonNullable<NonNullable<ReturnType<typeof readDiscovery>>['signingKeys']>[number];

export interface SourceDirectory {
  readonly keys: readonly MirroredKey[];
  readonly assignments: readonly NamespaceAssignment[];
}

/** Keys that cannot be used here are left out; what they signed is refused when its turn comes. */
export async function readSourceDirectory(
  source: CopyableRegistry,
  names: readonly string[],
): Promise<SourceDirectory> {
  const document = await source.document({ of: 'discovery' });
  const discovery = readDiscovery(Buffer.from(JSON.stringify(document ?? {})));
  const more = Check(More, document) ? document : {};
  const isConcerned = (pattern: string): boolean => names.some((name) => permits([pattern], name));
  const listed = (discovery?.signingKeys ?? [])
    .filter(({ permittedNamespaces }) => permittedNamespaces.some(isConcerned))
    .slice(0, KEYS_MAX);
  const keys: MirroredKey[] = [];
  for (const key of listed) {
    const mirrored = await mirroredKey(source, key, more);
    if (mirrored !== undefined) keys.push(mirrored);
  }
  const assignments = (more.namespaceAssignments ?? []).flatMap((entry) =>
    Check(Assignment, entry) && isConcerned(entry.namespace) ? [assignmentOf(entry)] : [],
  );
  return { keys, assignments };
}

async function mirroredKey(
  source: CopyableRegistry,
  { keyId, publicKeyUrl, permittedNamespaces, status, validFrom, validUntil }: Listed,
  { signingKeys = [] }: Static<typeof More>,
): Promise<MirroredKey | undefined> {
  const publicKey = await source.publicKey(publicKeyUrl);
  if (publicKey === undefined || readPublicKey(publicKey) === undefined) return undefined;
  if (!KEY_ID.test(keyId) || keyIdOf(keyId) !== keyId) return undefined;
  const { algorithm = 'ed25519', operator } = signingKeys.find((key) => key.keyId === keyId) ?? {};
  return {
    keyId,
    publicKey,
    permittedNamespaces,
    status,
    algorithm,
    ...(operator !== undefined && { operator }),
    ...(validFrom !== undefined && { validFrom }),
    ...(validUntil !== undefined && { validUntil }),
  };
}

function assignmentOf({
  namespace,
  owner,
  signingKeyId,
  claimedAt,
  contact,
}: Static<typeof Assignment>): NamespaceAssignment {
  return {
    namespace,
    owner,
    claimedAt,
    ...(signingKeyId !== undefined && { signingKeyId }),
    ...(contact !== undefined && { contact }),
  };
}

/** Throws when it is there and not to be believed. */
export async function readSourceKeychain(
  source: CopyableRegistry,
  name: string,
): Promise<Keychain | undefined> {
  const document = await source.document({ of: 'keychain', name });
  if (document === undefined) return undefined;
  await source.keys(name);
  return readKeychain(Buffer.from(JSON.stringify(document)));
}
