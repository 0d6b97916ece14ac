/** What a principal may do now: the scopes of its valid keys. Without a valid key, nothing is left of its rights. */
import { isLiveKey } from '@gantry/http';
import type { Store } from '@gantry/store';

/** The scopes of a principal; null if it has no valid key. */
export type ScopesOf = (tenant: string, principal: string) => Promise<readonly string[] | null>;

export const keyScopes =
  ({ records }: Pick<Store, 'records'>, now: () => number): ScopesOf =>
  async (tenant, principal) => {
    const keys = (await records.keys(tenant)).filter(
      (key) => key.principal === principal && isLiveKey(key, now()),
    );
    return keys.length === 0 ? null : [...new Set(keys.flatMap(({ scopes }) => scopes))];
  };
