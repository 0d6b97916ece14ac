/** OAuth connections to external services: the operator's clients, and the authorizations of users. */
import Type, { type Static } from 'typebox';
import { closedObject, optional, Texts, Time } from '../schema.ts';
import { wire } from '../wire.ts';

export const CONNECTION_LIMITS = {
  clientsPerTenantMax: 200,
  connectionsPerTenantMax: 1_000,
  /** Authorizations that were started and not completed. */
  authorizationsPerTenantMax: 200,
  authorizationMs: 10 * 60_000,
} as const;

const ProviderId = Type.String({ maxLength: 128, pattern: '^[a-z][a-z0-9-]*$' });
const Url = Type.String({ minLength: 1, maxLength: 2_048, pattern: '^https?://' });
const Short = Type.String({ minLength: 1, maxLength: 512 });

/** How the client authenticates at the token endpoint: by a header, or by form fields. */
const AuthMethod = Type.Enum(['basic', 'post']);

export const ConfigureOAuthClientRequest = closedObject({
  provider: ProviderId,
  clientId: Short,
  /** Absent for public clients. */
  clientSecret: optional(Type.String({ minLength: 1, maxLength: 4_096 })),
  authMethod: optional(AuthMethod),
  /** The `iss` value of the provider. */
  issuer: optional(Url),
  /** Replace those of the connection pack, for self-hosted providers. */
  authorizeUrl: optional(Url),
  tokenUrl: optional(Url),
});
export type ConfigureOAuthClientRequest = Static<typeof ConfigureOAuthClientRequest>;

export const OAuthClient = Type.Object({
  provider: Type.String(),
  clientId: Type.String(),
  hasSecret: Type.Boolean(),
  authMethod: AuthMethod,
  issuer: optional(Type.String()),
  authorizeUrl: optional(Type.String()),
  tokenUrl: optional(Type.String()),
  /** Must be registered at the provider. */
  redirectUri: Type.String(),
  createdAt: Time,
});
export type OAuthClient = Static<typeof OAuthClient>;

export const oauthClientsWire = wire(
  {
    path: 'oauth-clients',
    list: 'clients',
    id: 'provider',
  },
  {
    about: 'Configure the OAuth client of this host at a provider; its secret is never shown',
    scopes: { read: ['credentials:manage'], write: ['keys:manage', 'credentials:manage'] },
    listed: CONNECTION_LIMITS.clientsPerTenantMax,
    input: ConfigureOAuthClientRequest,
    view: OAuthClient,
    own: ['create'],
    methods: {},
  },
);

const Access = Type.Enum(['read', 'write']);
/** Who may use it: the principal that connected, or its whole workspace. */
const ConnectionScope = Type.Enum(['user', 'workspace']);

export const ConnectRequest = closedObject({
  provider: ProviderId,
  /** Default: `read`. Write access is requested separately, after read access was authorized. */
  access: optional(Access),
  scope: optional(ConnectionScope),
});
export type ConnectRequest = Static<typeof ConnectRequest>;

export const Connection = Type.Object({
  connectionId: Type.String(),
  provider: Type.String(),
  grant: Type.Enum(['authorization_code', 'client_credentials']),
  scope: ConnectionScope,
  workspace: Type.String(),
  principal: Type.String(),
  access: Access,
  scopes: Texts,
  state: Type.Enum(['connected', 'expired']),
  /** Why it must be authorized again. */
  reason: optional(Type.String()),
  /** The advice for `reason`. */
  next: optional(Type.String()),
  /** The expiry of the current token, which is refreshed earlier. */
  tokenExpiresAt: optional(Time),
  refreshable: Type.Boolean(),
  authorizedAt: Time,
  createdAt: Time,
});
export type Connection = Static<typeof Connection>;

/** An existing connection, or the page on which a person authorizes it. */
export const Connecting = Type.Object({
  provider: Type.String(),
  connection: optional(Connection),
  /** Must be opened in a browser before `expiresAt`. */
  authorizeUrl: optional(Type.String()),
  expiresAt: optional(Time),
});
export type Connecting = Static<typeof Connecting>;

export const connectionsWire = wire(
  {
    path: 'connections',
    id: 'connectionId',
  },
  {
    about: 'Connect this host to an outside service',
    scopes: { read: ['credentials:manage'], write: ['credentials:manage'] },
    input: ConnectRequest,
    created: Connecting,
    view: Connection,
    own: ['create', 'remove'],
    methods: {},
  },
);
