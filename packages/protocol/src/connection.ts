/** Connections to outside services by OAuth: the operator's clients, and what people authorized. */
import Type, { type Static } from 'typebox';
import { closedObject, optional, Texts, Time } from './schema.ts';
import { CONNECTIONS, OAUTH_CLIENTS } from './tables.ts';
import { wire } from './wire.ts';

export const CONNECTION_LIMITS = {
  clientsPerTenantMax: 200,
  connectionsPerTenantMax: 1_000,
  /** Authorizations that people have begun and not ended. */
  authorizationsPerTenantMax: 200,
  authorizationMs: 10 * 60_000,
} as const;

const ProviderId = Type.String({ maxLength: 128, pattern: '^[a-z][a-z0-9-]*$' });
const Url = Type.String({ minLength: 1, maxLength: 2_048, pattern: '^https?://' });
const Short = Type.String({ minLength: 1, maxLength: 512 });

/** How the client proves itself at the token endpoint: by a header, or by members of the form. */
const AuthMethod = Type.Enum(['basic', 'post']);

export const ConfigureOAuthClientRequest = closedObject({
  provider: ProviderId,
  clientId: Short,
  /** Absent for public clients. */
  clientSecret: optional(Type.String({ minLength: 1, maxLength: 4_096 })),
  authMethod: optional(AuthMethod),
  /** What the provider calls itself in `iss`. */
  issuer: optional(Url),
  /** Instead of those of the connection pack, for providers that people run themselves. */
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
  /** To be registered at the provider. */
  redirectUri: Type.String(),
  createdAt: Time,
});
export type OAuthClient = Static<typeof OAuthClient>;

export const oauthClientsWire = wire(OAUTH_CLIENTS, {
  about: 'Configure the OAuth client of this host at a provider; its secret is never shown',
  scopes: { read: ['credentials:manage'], write: ['keys:manage', 'credentials:manage'] },
  listed: CONNECTION_LIMITS.clientsPerTenantMax,
  input: ConfigureOAuthClientRequest,
  view: OAuthClient,
  own: ['create'],
  methods: {},
});

const Access = Type.Enum(['read', 'write']);
/** Who may use it: the principal that connected, or all of its workspace. */
const ConnectionScope = Type.Enum(['user', 'workspace']);

export const ConnectRequest = closedObject({
  provider: ProviderId,
  /** `read` without it. Write access is asked for separately, once reading was authorized. */
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
  /** Why it has to be authorized again. */
  reason: optional(Type.String()),
  /** What to do about it. */
  next: optional(Type.String()),
  /** Of the token that is used now; it is refreshed before. */
  tokenExpiresAt: optional(Time),
  refreshable: Type.Boolean(),
  authorizedAt: Time,
  createdAt: Time,
});
export type Connection = Static<typeof Connection>;

/** A connection that is already there, or the page on which a person authorizes it. */
export const Connecting = Type.Object({
  provider: Type.String(),
  connection: optional(Connection),
  /** To be opened in a browser before `expiresAt`. */
  authorizeUrl: optional(Type.String()),
  expiresAt: optional(Time),
});
export type Connecting = Static<typeof Connecting>;

export const connectionsWire = wire(CONNECTIONS, {
  about: 'Connect this host to an outside service',
  scopes: { read: ['credentials:manage'], write: ['credentials:manage'] },
  input: ConnectRequest,
  created: Connecting,
  view: Connection,
  own: ['create', 'remove'],
  methods: {},
});
