/** A provider from which this host can get tokens: its description in a connection pack, and the operator's client. */
import { isDeepStrictEqual } from 'node:util';
import type { Provider } from '@gantry/packs';
import { OpenwopError } from '@gantry/protocol';
import type { Connections } from '../packs/connections/connections.ts';
import { isOAuth, scopeGroups } from '../packs/connections/provider.ts';
import type { OAuthClients } from './oauth-client.ts';

export type Flow = 'authorization_code' | 'client_credentials';

export interface OAuthProvider {
  readonly id: string;
  readonly displayName: string;
  readonly flow: Flow;
  /** Absent if the operator did not configure it. */
  readonly issuer?: string;
  readonly endpoints: { readonly authorize: string; readonly token: string; readonly revoke?: string };
  readonly client: Pick<ClientFacts, 'clientId' | 'clientSecret' | 'authMethod'>;
  /** The only hosts that its tokens are sent to. */
  readonly apiHosts: readonly string[];
}

/** The endpoints of a connection pack. */
export type Endpoints = NonNullable<Provider['auth']['endpoints']>;

/** Settings of the operator: its client, and URLs that a pack for many installations cannot know. */
export interface ClientFacts {
  readonly clientId: string;
  readonly clientSecret?: string;
  readonly authMethod: 'basic' | 'post';
  readonly issuer?: string;
  readonly authorizeUrl?: string;
  readonly tokenUrl?: string;
  /** The endpoints of the pack at the time of this configuration. */
  readonly packEndpoints: Endpoints;
}

export function oauthProvider(provider: Provider, client: ClientFacts): OAuthProvider {
  const { id, displayName, auth, apiHosts = [] } = provider;
  if (!isOAuth(provider)) throw unsupported(id, `${displayName} does not sign in with OAuth.`);
  if (!isDeepStrictEqual(auth.endpoints ?? {}, client.packEndpoints))
    throw unsupported(
      id,
      `The connection pack of ${displayName} names other addresses than when its client was configured. Check them, then type: gantry connections configure ${id}`,
    );
  const flow = auth.authFlow === 'client_credentials' ? 'client_credentials' : 'authorization_code';
  const { authorizeUrl = auth.endpoints?.authorize, tokenUrl: token = auth.endpoints?.token } = client;
  const authorize = authorizeUrl ?? (flow === 'client_credentials' ? token : undefined);
  if (token === undefined || authorize === undefined)
    throw unsupported(
      id,
      `The connection pack of ${displayName} does not say where to sign in. Type: gantry connections configure ${id} --authorize-url URL --token-url URL`,
    );
  const { revoke } = auth.endpoints ?? {};
  return {
    id,
    displayName,
    flow,
    ...(client.issuer !== undefined && { issuer: client.issuer }),
    endpoints: { authorize, token, ...(revoke !== undefined && { revoke }) },
    client,
    apiHosts,
  };
}

export const unsupported = (provider: string, message: string): OpenwopError =>
  new OpenwopError('oauth_provider_unsupported', { message, details: { provider } });

/** The provider in its pack, and how this host gets tokens from it. */
export interface Resolved {
  readonly described: Provider;
  readonly oauth: OAuthProvider;
}

export type Providers = ReturnType<typeof oauthProviders>;

export const oauthProviders = (
  connections: Pick<Connections, 'provider'>,
  clients: Pick<OAuthClients, 'factsOf'>,
) => ({
  async resolve(tenant: string, id: string): Promise<Resolved> {
    const described = await connections.provider(tenant, id);
    const facts = await clients.factsOf(tenant, id);
    if (facts) return { described, oauth: oauthProvider(described, facts) };
    throw unsupported(
      id,
      `No client is configured for ${described.displayName}. The operator has to run: gantry connections configure ${id} --client-id ID`,
    );
  },
});

/** Each scope with the label of its group. */
export const labelledScopes = (provider: Provider, scopes: readonly string[]) =>
  scopes.map((scope) => {
    const group = scopeGroups(provider, ['read', 'write']).find((each) => each.scopes.includes(scope));
    return { scope, ...(group && { label: group.label }) };
  });
