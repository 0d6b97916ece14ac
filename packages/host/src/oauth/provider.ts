/** A provider that this host can get tokens from: what a connection pack says of it, and the operator's client. */
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
  /** What it calls itself; absent when the operator did not say. */
  readonly issuer?: string;
  readonly endpoints: { readonly authorize: string; readonly token: string; readonly revoke?: string };
  readonly client: Pick<ClientFacts, 'clientId' | 'clientSecret' | 'authMethod'>;
  /** The only hosts that its tokens travel to. */
  readonly apiHosts: readonly string[];
}

/** As a connection pack names them. */
export type Endpoints = NonNullable<Provider['auth']['endpoints']>;

/** What the operator says: its client, and addresses that a pack for many installations cannot know. */
export interface ClientFacts {
  readonly clientId: string;
  readonly clientSecret?: string;
  readonly authMethod: 'basic' | 'post';
  readonly issuer?: string;
  readonly authorizeUrl?: string;
  readonly tokenUrl?: string;
  /** Of the pack when this was said. */
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

/** What its pack says of a provider, and how this host gets tokens from it. */
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

/** With the label of the group that has it. */
export const labelledScopes = (provider: Provider, scopes: readonly string[]) =>
  scopes.map((scope) => {
    const group = scopeGroups(provider, ['read', 'write']).find((each) => each.scopes.includes(scope));
    return { scope, ...(group && { label: group.label }) };
  });
