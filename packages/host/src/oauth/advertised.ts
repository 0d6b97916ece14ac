/**
 * Providers that the discovery document names: those that the tenant `default` can connect to, whose packs and clients are
 * the operator's. What other tenants bring is theirs alone. Addresses are those of the packs: where the operator runs a
 * provider is for nobody to read.
 */
import { DEFAULT_TENANT } from '@gantry/http';
import { OpenwopError } from '@gantry/protocol';
import { declaredPacks } from '../packs/binding.ts';
import { scopesOf } from '../packs/connections/provider.ts';
import type { PackRecords } from '../packs/pack-records.ts';
import type { Providers } from './provider.ts';

export interface AdvertisedProvider {
  readonly id: string;
  readonly authUrl?: string;
  readonly tokenUrl?: string;
  readonly scopesSupported: readonly string[];
}

export const GRANTS = ['authorization_code', 'client_credentials', 'refresh_token'] as const;

export async function advertisedProviders(
  records: PackRecords,
  providers: Providers,
): Promise<AdvertisedProvider[]> {
  const packs = await declaredPacks(records, DEFAULT_TENANT, 'connection');
  const ids = [...new Set(packs.map(({ declared }) => declared.provider.id))].sort();
  const found = await Promise.all(ids.map((id) => advertised(providers, id)));
  return found.flatMap((provider) => provider ?? []);
}

async function advertised(providers: Providers, id: string): Promise<AdvertisedProvider | null> {
  try {
    const { described } = await providers.resolve(DEFAULT_TENANT, id);
    const { authorize: authUrl, token: tokenUrl } = described.auth.endpoints ?? {};
    const scopesSupported = scopesOf(described, ['read', 'write']);
    return { id, ...(authUrl && { authUrl }), ...(tokenUrl && { tokenUrl }), scopesSupported };
  } catch (error) {
    // No client, a conflict, or no OAuth: it cannot be connected to
    if (error instanceof OpenwopError) return null;
    throw error;
  }
}
