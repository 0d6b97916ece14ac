/**
 * A version always has the same bytes, even after it was uninstalled, and regardless of who signs other bytes. An
 * archive whose proof covers its code, or that came from a registry of the operator, is known to all tenants. Any other
 * archive is known only to its own tenant: a tenant cannot block a version for others by uploading it first.
 */
import { OpenwopError } from '@gantry/protocol';
import { creation } from '@gantry/resources';
import type { Write } from '@gantry/store';
import { SHARED } from '../workflows/shared.ts';
import { labelOf, type PackRecord, packBytes } from './pack-record.ts';
import type { PackRecords } from './pack-records.ts';

interface BytesQuestion {
  readonly tenant: string;
  readonly record: PackRecord;
  readonly isFromRegistry: boolean;
  readonly now: number;
}

/** Throws if the version was installed with other bytes, by this tenant or for all. */
export async function refuseOtherBytes(
  records: PackRecords,
  tenant: string,
  pack: Pick<PackRecord, 'name' | 'version' | 'integrity'>,
): Promise<void> {
  for (const owner of new Set([tenant, SHARED])) {
    const known = await records.find(packBytes, owner, labelOf(pack));
    if (known) refuseOther(pack, known.record.integrity);
  }
}

export function refuseOther(pack: Pick<PackRecord, 'name' | 'version' | 'integrity'>, known: string): void {
  const { integrity } = pack;
  if (known === integrity) return;
  const manifest = labelOf(pack);
  throw new OpenwopError('pack_version_conflict', {
    message: `${manifest} was installed here as ${known}; this archive is ${integrity}. Give it a version of its own.`,
    details: { manifest, installed: known },
  });
}

/** Empty if it is known already. */
export async function bytesWrites(
  records: PackRecords,
  { tenant, record, isFromRegistry, now }: BytesQuestion,
): Promise<Write[]> {
  const { integrity, covers = 'manifest' } = record;
  const owner = isFromRegistry || covers !== 'manifest' ? SHARED : tenant;
  const id = labelOf(record);
  if (await records.find(packBytes, owner, id)) return [];
  return [creation(packBytes, { tenant: owner, id }, { integrity }, now)];
}
