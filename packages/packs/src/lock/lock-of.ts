import type { KeyObject } from 'node:crypto';
import { given, isoTime, OpenwopError } from '@gantry/protocol';
import { inTurns, type Registries } from '../registry/registries.ts';
import type { Registry } from '../registry/registry.ts';
import type { Resolution, ResolvedPack } from '../resolve/resolve.ts';
import { isValidAt, readPublicKey, signerOf, verifyEd25519 } from '../trust/keys.ts';
import { LOCKFILE_VERSION, type LockedPack, PackLock } from './lockfile.ts';

/**
 * The lockfile of a resolution. `generatedAt` is the newest publication in it, not the current time, so that the
 * same registries and requests always produce the same bytes. Unknown members of a previous lockfile are kept.
 */
export async function lockOf(
  resolution: Resolution,
  registries: Registries,
  previous?: PackLock,
): Promise<PackLock> {
  const [primary, ...fallbacks] = registries.all;
  const byUrl = new Map(registries.all.map((registry) => [registry.url, registry]));
  const packs = await inTurns(resolution.packs, (pack) => lockedPack(pack, byUrl.get(pack.registry)));
  return {
    ...unknownOf(previous),
    lockfileVersion: LOCKFILE_VERSION,
    generatedAt: newest(resolution.packs),
    ...given({ registry: primary?.url }),
    ...(fallbacks.length > 0 && { fallbackRegistries: fallbacks.map(({ url }) => url) }),
    ...(Object.keys(resolution.overrides).length > 0 && { overrides: { ...resolution.overrides } }),
    packs,
  };
}

function unknownOf(previous: PackLock | undefined): object {
  const known = new Set(Object.keys(PackLock.properties));
  return Object.fromEntries(Object.entries(previous ?? {}).filter(([key]) => !known.has(key)));
}

async function lockedPack(pack: ResolvedPack, registry: Registry | undefined): Promise<LockedPack> {
  const { name, version, tarballUrl, record, dependencies, peerDependencies } = pack;
  const signature = registry && (await signatureToLock(pack, registry));
  return {
    name,
    version,
    resolved: tarballUrl,
    integrity: record.integrity,
    ...given({ signature }),
    dependencies: { ...dependencies },
    peerDependencies: { ...peerDependencies },
  };
}

function newest(packs: readonly ResolvedPack[]): string {
  return isoTime(Math.max(0, ...packs.map(({ record }) => Date.parse(record.publishedAt ?? '') || 0)));
}

type LockedSignature = NonNullable<LockedPack['signature']>;

/**
 * The signature to record in a lockfile: one over the whole archive, since all readers of the lockfile verify it
 * against the archive. A `manual` signature covers only pack.json and would fail there, so it is omitted: the
 * integrity pins the archive, and the signature is checked with the keys of the registry at install.
 */
export async function signatureToLock(
  { name, version, signing, record }: ResolvedPack,
  registry: Registry,
): Promise<LockedSignature | undefined> {
  const signer = signerOf(signing);
  if (signing?.method !== 'ed25519' || signer === undefined) return undefined;
  const [value, keys] = await Promise.all([registry.signature(name, version), registry.keys(name, signer)]);
  const publishedAt = record.publishedAt === undefined ? Number.NaN : Date.parse(record.publishedAt);
  const key = keys
    .filter(({ keyId }) => keyId === signer)
    .find((candidate) => Number.isNaN(publishedAt) || isValidAt(candidate, publishedAt));
  const publicKey = key && readPublicKey(key.publicKey);
  if (value === undefined || publicKey === undefined) return undefined;
  return {
    algorithm: 'ed25519',
    publicKey: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
    value: Buffer.from(value).toString('base64'),
  };
}

/** The prefix that converts the 32 bytes of an Ed25519 key to SPKI form. */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');
const RAW_KEY_BYTES = 32;

/** Lockfiles contain the raw bytes of the key or its SPKI form, both in base64. */
function lockedKey(publicKey: string): KeyObject | undefined {
  const bytes = Buffer.from(publicKey, 'base64');
  const spki =
    bytes.length === RAW_KEY_BYTES ? Buffer.concat([SPKI_PREFIX, bytes]).toString('base64') : publicKey;
  return readPublicKey(spki);
}

/** Lockfiles of other tools may record a signature over pack.json, if the pack declares that kind of signature. */
export function checkLockedSignature(
  { name, version, signature }: LockedPack,
  pack: { readonly bytes: Uint8Array; readonly manifestBytes: Uint8Array; readonly isManual: boolean },
): void {
  if (signature === undefined) return;
  const key = lockedKey(signature.publicKey);
  if (key === undefined)
    throw new OpenwopError('pack_signature_unverifiable', {
      message: `The lockfile has no Ed25519 key for ${name}@${version}. Create the lockfile again.`,
      details: { packName: name, version },
    });
  const value = Buffer.from(signature.value, 'base64');
  if (verifyEd25519(key, pack.bytes, value)) return;
  if (pack.isManual && verifyEd25519(key, pack.manifestBytes, value)) return;
  throw new OpenwopError('pack_signature_invalid', {
    message: `The signature of ${name}@${version} in the lockfile does not verify with the key beside it. Do not use this archive; find out why the lockfile changed.`,
    details: { packName: name, version },
  });
}
