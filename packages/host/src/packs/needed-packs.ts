/** Installed packs keep their dependencies. Packs in development may lose them. */
import { readRange } from '@gantry/packs';
import { OpenwopError } from '@gantry/protocol';
import { labelOf, type PackRecord } from './pack-record.ts';
import type { PackRecords } from './pack-records.ts';

/** Throws if a serving pack depends on versions of this one, and no remaining version satisfies it. */
export async function refuseNeeded(
  records: Pick<PackRecords, 'serving' | 'versionsOf'>,
  { tenant, name }: { readonly tenant: string; readonly name: string },
  leaving: readonly PackRecord[],
): Promise<void> {
  const labels = new Set(leaving.map(labelOf));
  const versions = (await records.versionsOf(tenant, name)).map(({ record }) => record);
  const staying = versions.filter((record) => !labels.has(labelOf(record)));
  for (const { record: dependent } of (await records.serving(tenant)).values()) {
    const range = dependent.dependencies?.[name];
    if (range === undefined || dependent.development) continue;
    const fits = ({ version }: PackRecord): boolean => readRange(range)?.range.test(version) ?? true;
    if (!leaving.some(fits) || staying.some(fits)) continue;
    const requestedBy = labelOf(dependent);
    throw new OpenwopError('pack_dependency_conflict', {
      message: `${requestedBy} is installed and depends on ${name} ${range}. Remove ${dependent.name} first.`,
      details: { packName: name, conflictingRanges: [{ requestedBy, range }] },
    });
  }
}
