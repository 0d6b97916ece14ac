/**
 * The providers in the discovery document: those that the tenant `default` can connect to, whose packs and
 * clients belong to the operator. Providers of other tenants are private. URLs are those of the packs: the
 * operator's own addresses of a provider are not published.
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
    // No client, a conflict, or no OAuth: it cannot be connected
    if (error instanceof OpenwopError) return null;
    throw error;
  }
}
