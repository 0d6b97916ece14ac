/** Resolves a ref to the current value for an owner. */
import type { Owner } from '@gantry/protocol';
import {
  accessOf,
  type CredentialVersion,
  parseRef,
  type StoredCredential,
  versionOf,
} from './credential.ts';

export interface Lookup {
  readonly owner: Owner;
  /** `stripe`, or `stripe@2` for its second value. */
  readonly ref: string;
  /** For credentials of one run. */
  readonly runId?: string | undefined;
}

/** A credential that the caller may use now, with the selected version. */
export interface Found {
  readonly stored: StoredCredential;
  readonly version: CredentialVersion;
  readonly isExpired: boolean;
}

/** `ended`: the version has been replaced, or never existed. */
export type Missed = { readonly not: 'missing' | 'forbidden' | 'revoked' | 'ended' };

/** `read` returns the record with this id in the tenant of the owner. */
export async function found(
  read: (id: string) => Promise<StoredCredential | null>,
  { owner, ref: text, runId }: Lookup,
  now: number,
): Promise<Found | Missed> {
  const { ref, version: wanted } = parseRef(text);
  const stored = await read(ref);
  if (!stored) return { not: 'missing' };
  if (!accessOf(owner, stored.record, runId)) return { not: 'forbidden' };
  if (stored.record.revokedAt !== undefined) return { not: 'revoked' };
  const version = versionOf(stored.record, wanted, now);
  if (!version) return { not: 'ended' };
  const { expiresAt = Number.POSITIVE_INFINITY } = version;
  return { stored, version, isExpired: expiresAt <= now };
}
