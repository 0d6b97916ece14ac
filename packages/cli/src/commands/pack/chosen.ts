/** Packs that a lockfile or a resolution chose, ready to be fetched; dependencies come first. */
import {
  fetchLocked,
  fetchPack,
  installOrder,
  installPlan,
  type PackLock,
  type Registries,
  type Resolution,
  type Root,
} from '@gantry/packs';
import { OpenwopError } from '@gantry/protocol';
import type { ChosenPack } from './delivery.ts';

/** Exactly what the lockfile pins for these roots, or a refusal. */
export function lockedPacks(lock: PackLock, roots: readonly Root[], registries: Registries): ChosenPack[] {
  const plan = installPlan(lock, roots, registries);
  return plan.steps.map((step) => ({
    name: step.name,
    version: step.version,
    integrity: step.entry.integrity,
    isExact: true,
    isLocked: true,
    fetch: () => fetchLocked(step, plan),
  }));
}

/** A version that the lockfile pins keeps the bytes that it pins. */
export function resolvedPacks(
  { packs }: Pick<Resolution, 'packs'>,
  registries: Registries,
  lock?: PackLock,
): ChosenPack[] {
  return installOrder(packs).map(({ name, version, registry: url, record, isExact }) => {
    const registry = registries.all.find((one) => one.url === url);
    if (!registry) throw new Error(`${name} was resolved from ${url}, which was not asked`);
    const entry = lock?.packs.find((one) => one.name === name && one.version === version);
    const locked = entry && { lockedIntegrity: entry.integrity };
    const fetch = () => fetchPack({ registry, name, version, ...locked });
    const integrity = entry?.integrity ?? record.integrity;
    return { name, version, integrity, isExact, isLocked: entry !== undefined, fetch };
  });
}

/** A workflow may say which archive it takes, and not only which version. */
export function checkWorkflowPins(
  roots: readonly (Root & { readonly integrity?: string })[],
  { packs }: Pick<Resolution, 'packs'>,
): void {
  for (const { name, integrity, requestedBy } of roots) {
    const chosen = packs.find((pack) => pack.name === name);
    if (integrity === undefined || !chosen || chosen.record.integrity === integrity) continue;
    throw new OpenwopError('pack_integrity_mismatch', {
      message: `${requestedBy} takes ${name} only as ${integrity}; ${chosen.version} is ${chosen.record.integrity}. Correct "integrity" in its packs map, or the version.`,
    });
  }
}
