import Type, { type Static } from 'typebox';
import { Address, Data, HttpsAddress, Label, manifestOf, strict, TypeId } from './fields.ts';

const ScopeGroups = Type.Array(
  strict({
    key: Type.String({ maxLength: 128, pattern: '^[a-z][a-z0-9._-]*$' }),
    label: Label,
    scopes: Type.Array(Type.String({ maxLength: 256 }), { maxItems: 100 }),
  }),
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

const Auth = strict({
  kind: Type.Enum(['oauth2', 'api_key', 'bearer', 'basic']),
  authFlow: Type.Optional(Type.Enum(['pkce', 'client_credentials', 'manual', 'none'])),
  scopeModel: Type.Optional(Type.Enum(['groups', 'coarse', 'capabilities'])),
  endpoints: Type.Optional(
    strict({
      authorize: Type.Optional(HttpsAddress),
      token: Type.Optional(HttpsAddress),
      revoke: Type.Optional(HttpsAddress),
    }),
  ),
  scopes: Type.Optional(strict({ read: Type.Optional(ScopeGroups), write: Type.Optional(ScopeGroups) })),
  instanceUrlTemplate: Type.Optional(Type.String({ maxLength: 2048 })),
});

const McpServer = strict({ url: HttpsAddress, transport: Type.Enum(['http', 'sse']) });

/** Exactly one way to reach the provider. */
const Reach = strict(
  {
    mcp: Type.Optional(strict({ server: McpServer })),
    openapi: Type.Optional(strict({ ref: Type.String({ minLength: 1, maxLength: 2048 }) })),
    integration: Type.Optional(strict({ node: TypeId })),
  },
  { minProperties: 1, maxProperties: 1 },
);

export const Provider = strict({
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
});
export type Provider = Static<typeof Provider>;

export const ConnectionPackManifest = manifestOf('connection', { provider: Provider });
