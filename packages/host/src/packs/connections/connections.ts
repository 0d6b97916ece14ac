/** The providers of connection packs, as a tenant sees them. */
import type { Provider } from '@gantry/packs';
import { OpenwopError } from '@gantry/protocol';
import { SHARED } from '../../workflows/shared.ts';
import { declaredPacks } from '../binding.ts';
import type { PackRecords } from '../pack-records.ts';
import { type InstalledProvider, type Resolution, resolveProvider } from './provider.ts';

export type Connections = ReturnType<typeof packConnections>;

export function packConnections(records: PackRecords) {
  /** This host has no built-in providers; `builtInVersion` resolves as if it had one of that version. */
  const resolve = async (
    tenant: string,
    providerId: string,
    builtInVersion?: string,
  ): Promise<Resolution> => {
    const installed = await installedProviders(records, tenant);
    return resolveProvider(
      installed.filter(({ provider }) => provider.id === providerId),
      builtInVersion,
    );
  };
  const provider = async (tenant: string, providerId: string): Promise<Provider> => {
    const resolution = await resolve(tenant, providerId);
    if (resolution.source === 'pack') return resolution.installed.provider;
    if (resolution.source === 'builtin') throw new Error(`${providerId} is not built in`);
    const packs = 'packs' in resolution ? [...resolution.packs] : [];
    throw new OpenwopError(resolution.code, { details: { provider: providerId, packs } });
  };
  return { resolve, provider };
}

/** Providers that installed packs describe, own packs first, the last installed first. */
export async function installedProviders(records: PackRecords, tenant: string): Promise<InstalledProvider[]> {
  const packs = await declaredPacks(records, tenant, 'connection');
  return packs.map(({ name, version, tenant: owner, declared }) => ({
    packName: name,
    version,
    shared: owner === SHARED,
    provider: declared.provider,
  }));
}
