/**
 * Keys in the environment of this process under their usual names: each becomes a credential of the tenant
 * `default`. An existing credential is not changed, revoked or not; the value stays in the environment.
 */

import { KEY_PLACES, KNOWN_PROVIDERS, type KnownProvider } from '@gantry/ai';
import { DEFAULT_TENANT, type Environment } from '@gantry/http';
import { OpenwopError } from '@gantry/protocol';
import { systemCaller } from '@gantry/resources';
import type { Credentials } from '../../credentials/credentials.ts';
import type { SecretVariable } from '../../credentials/external-stores.ts';

/** The variables that are set. */
export const keyVariables = (env: Environment): SecretVariable[] =>
  KNOWN_PROVIDERS.flatMap(({ variables }) => variables)
    .filter((name) => env[name])
    .map((name) => ({ tenant: DEFAULT_TENANT, name, value: env[name] }));

export interface OfferedKey {
  readonly provider: KnownProvider;
  readonly variable: string;
  /** The host that it may be sent to. */
  readonly host: string;
}

/** Two processes may do this concurrently: the second gets a conflict. */
export async function offerKeys(
  service: Pick<Credentials['service'], 'create'>,
  keys: readonly OfferedKey[],
) {
  const caller = systemCaller('environment', { tenant: DEFAULT_TENANT });
  for (const { provider, variable, host } of keys) {
    const { header, prefix } = KEY_PLACES[provider.family];
    try {
      await service.create(caller, {
        ref: provider.id,
        provider: provider.id,
        kind: prefix === '' ? 'api_key' : 'bearer',
        header,
        prefix,
        audiences: [host],
        source: { store: 'env', name: variable },
      });
    } catch (error) {
      if (!(error instanceof OpenwopError) || error.code !== 'conflict') throw error;
    }
  }
}
