/**
 * The operator's client at each provider, as a resource. Its secret is stored sealed.
 *
 * C1  A client is bound to the endpoints that the connection pack named when it was configured. A pack that
 *     has changed its endpoints since then does not get the secret.
 */
import {
  CONNECTION_LIMITS,
  type ConfigureOAuthClientRequest,
  type OAuthClient,
  oauthClientsWire,
} from '@gantry/protocol';
import {
  type Caller,
  openSecret,
  ResourceService,
  readRecord,
  resource,
  type Sealer,
  type Secret,
  type Stored,
} from '@gantry/resources';
import type { EntryReads } from '@gantry/store';
import type { Connections } from '../packs/connections/connections.ts';
import { oauthClientKind } from '../packs/connections/node-auth.ts';
import type { Parts } from '../parts.ts';
import { type ClientFacts, type Endpoints, oauthProvider } from './provider.ts';

export interface OAuthClientRecord extends Omit<ClientFacts, 'clientSecret'> {
  readonly clientSecret?: Secret;
}

interface Services {
  readonly redirectUri: (provider: string) => string;
}

export const oauthClients = resource<typeof oauthClientsWire, OAuthClientRecord, Endpoints, Services>(
  oauthClientsWire,
  {
    ...oauthClientKind,
    max: CONNECTION_LIMITS.clientsPerTenantMax,
    secret: ['clientSecret'],
    create: clientOf,
    verbs: {},
    show: (stored, { redirectUri }) => viewOf(stored, redirectUri(stored.id)),
  },
);

function clientOf(
  { provider: _id, authMethod = 'basic', ...given }: ConfigureOAuthClientRequest,
  packEndpoints: Endpoints,
): OAuthClientRecord {
  return { ...given, authMethod, packEndpoints };
}

function viewOf({ id, createdAt, record }: Stored<OAuthClientRecord>, redirectUri: string): OAuthClient {
  const { clientSecret, packEndpoints: _, ...rest } = record;
  return {
    provider: id,
    ...rest,
    hasSecret: clientSecret !== undefined,
    redirectUri,
    createdAt: new Date(createdAt).toISOString(),
  };
}

export interface OAuthClientsOptions extends Services, Pick<Parts, 'changes' | 'now'> {
  readonly entries: EntryReads;
  readonly sealer: Pick<Sealer, 'open'>;
  readonly connections: Pick<Connections, 'provider'>;
}

export class OAuthClients extends ResourceService<
  typeof oauthClientsWire,
  OAuthClientRecord,
  Endpoints,
  Services
> {
  readonly #options: OAuthClientsOptions;

  constructor(options: OAuthClientsOptions) {
    super(oauthClients, { ...options, services: options });
    this.#options = options;
  }

  /** Replaces the whole earlier configuration of the same provider. */
  configure(caller: Caller, wanted: ConfigureOAuthClientRequest): Promise<OAuthClient> {
    const { changes, connections, redirectUri } = this.#options;
    const { provider } = wanted;
    return changes.run(caller, async (change) => {
      const described = await connections.provider(caller.tenant, provider);
      const packEndpoints = described.auth.endpoints ?? {};
      oauthProvider(described, { ...wanted, authMethod: 'basic', packEndpoints });
      const stored = await change.put(oauthClients, clientOf(wanted, packEndpoints), provider);
      return viewOf(stored, redirectUri(provider));
    });
  }

  /** Undefined if none is configured for the tenant. */
  async factsOf(tenant: string, provider: string): Promise<ClientFacts | undefined> {
    const stored = await readRecord(this.#options.entries, oauthClients, tenant, provider);
    if (!stored) return undefined;
    const { clientSecret: sealed, ...facts } = stored.record;
    if (sealed === undefined) return facts;
    const clientSecret = openSecret(this.#options.sealer, stored, 'clientSecret');
    if (clientSecret === null)
      throw new Error(`the client secret of ${provider} was sealed with another key`);
    return { ...facts, clientSecret };
  }
}
