import Type, { type Static } from 'typebox';
import { Address, closed, Data, HttpsAddress, identity, Label, TypeId } from './fields.ts';

const ScopeGroups = Type.Array(
  Type.Object(
    {
      key: Type.String({ maxLength: 128, pattern: '^[a-z][a-z0-9._-]*$' }),
      label: Label,
      scopes: Type.Array(Type.String({ maxLength: 256 }), { maxItems: 100 }),
    },
    closed,
  ),
  { maxItems: 100 },
);

const CATEGORIES = [
  'communication',
  'docs',
  'crm',
  'dev',
  'storage',
  'email-calendar',
  'ticketing',
  'data-warehouse',
  'marketing',
  'finance',
  'hr',
  'esignature',
  'support',
  'project-management',
  'payments',
  'other',
];

const Auth = Type.Object(
  {
    kind: Type.Enum(['oauth2', 'api_key', 'bearer', 'basic']),
    authFlow: Type.Optional(Type.Enum(['pkce', 'client_credentials', 'manual', 'none'])),
    scopeModel: Type.Optional(Type.Enum(['groups', 'coarse', 'capabilities'])),
    endpoints: Type.Optional(
      Type.Object(
        {
          authorize: Type.Optional(HttpsAddress),
          token: Type.Optional(HttpsAddress),
          revoke: Type.Optional(HttpsAddress),
        },
        closed,
      ),
    ),
    scopes: Type.Optional(
      Type.Object({ read: Type.Optional(ScopeGroups), write: Type.Optional(ScopeGroups) }, closed),
    ),
    instanceUrlTemplate: Type.Optional(Type.String({ maxLength: 2048 })),
  },
  closed,
);

const McpServer = Type.Object({ url: HttpsAddress, transport: Type.Enum(['http', 'sse']) }, closed);

/** Exactly one way to reach the provider. */
const Reach = Type.Object(
  {
    mcp: Type.Optional(Type.Object({ server: McpServer }, closed)),
    openapi: Type.Optional(Type.Object({ ref: Type.String({ minLength: 1, maxLength: 2048 }) }, closed)),
    integration: Type.Optional(Type.Object({ node: TypeId }, closed)),
  },
  { ...closed, minProperties: 1, maxProperties: 1 },
);

export const Provider = Type.Object(
  {
    id: Type.String({ maxLength: 128, pattern: '^[a-z][a-z0-9-]*$' }),
    displayName: Label,
    category: Type.Enum(CATEGORIES),
    auth: Auth,
    reach: Reach,
    consumerNodes: Type.Optional(Type.Array(TypeId, { maxItems: 100 })),
    docsUrl: Type.Optional(Address),
    /** The only hosts that credentials of this provider travel to; the rule is in `rules-declarative.ts`. */
    apiHosts: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 253 }), {
        minItems: 1,
        maxItems: 100,
        uniqueItems: true,
      }),
    ),
    vendor: Type.Optional(Data),
  },
  closed,
);
export type Provider = Static<typeof Provider>;

export const ConnectionPackManifest = Type.Object(
  { ...identity, kind: Type.Literal('connection'), provider: Provider },
  closed,
);
export type ConnectionPackManifest = Static<typeof ConnectionPackManifest>;
