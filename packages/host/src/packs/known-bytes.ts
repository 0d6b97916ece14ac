/**
 * A version means the same bytes for ever, also after it was uninstalled, whoever signs others. What is proved down to
 * its code, or came from a registry of the operator, counts for every tenant. Any other archive counts for its own
 * tenant alone: nobody can take a version away from others by uploading it first.
 */
import { OpenwopError } from '@gantry/protocol';
import type { Write } from '@gantry/store';
import { SHARED } from '../workflows/shared.ts';
import { bodyOf, bytesKey, type PackRecord, putting } from './pack-record.ts';
import type { PackRecords } from './pack-records.ts';

interface KnownBytes {
  readonly integrity: string;
}

export interface BytesQuestion {
  readonly tenant: string;
  readonly record: Pick<PackRecord, 'name' | 'version' | 'integrity' | 'covers'>;
  readonly isFromRegistry: boolean;
  readonly now: number;
}

/** Throws where the version was installed with other bytes, by this tenant or for all. */
export async function refuseOtherBytes(
  records: PackRecords,
  tenant: string,
  { name, version, integrity }: Pick<PackRecord, 'name' | 'version' | 'integrity'>,
): Promise<void> {
  for (const owner of new Set([tenant, SHARED])) {
    const entry = await records.entry(bytesKey(owner, name, version));
    if (entry) refuseOther({ name, version, integrity }, bodyOf<KnownBytes>(entry).integrity);
  }
}

export function refuseOther(
  { name, version, integrity }: Pick<PackRecord, 'name' | 'version' | 'integrity'>,
  known: string,
): void {
  if (known === integrity) return;
  const manifest = `${name}@${version}`;
  throw new OpenwopError('pack_version_conflict', {
    message: `${manifest} was installed here as ${known}; this archive is ${integrity}. Give it a version of its own.`,
    details: { manifest, installed: known },
  });
}

/** Nothing when it is known already. */
export async function bytesWrites(
  records: PackRecords,
  { tenant, record, isFromRegistry, now }: BytesQuestion,
): Promise<Write[]> {
  const { name, version, integrity, covers = 'manifest' } = record;
  const owner = isFromRegistry || covers !== 'manifest' ? SHARED : tenant;
  const key = bytesKey(owner, name, version);
  const before = await records.entry(key);
  return before ? [] : [putting({ key, body: { integrity } satisfies KnownBytes, before, now })];
}
