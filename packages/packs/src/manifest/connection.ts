import Type, { type Static } from 'typebox';
import {
  Address,
  Data,
  HttpsAddress,
  Label,
  list,
  manifestOf,
  matching,
  Scopes,
  strict,
  TypeId,
  text,
} from './fields.ts';

const ScopeGroups = list(
  strict({ key: matching('^[a-z][a-z0-9._-]*$', 128), label: Label, scopes: Scopes }),
  100,
);

const CATEGORIES =
  'communication docs crm dev storage email-calendar ticketing data-warehouse marketing finance hr esignature support project-management payments other';

const Auth = strict({
  kind: Type.Enum(['oauth2', 'api_key', 'bearer', 'basic']),
  'authFlow?': Type.Enum(['pkce', 'client_credentials', 'manual', 'none']),
  'scopeModel?': Type.Enum(['groups', 'coarse', 'capabilities']),
  'endpoints?': strict({ 'authorize?': HttpsAddress, 'token?': HttpsAddress, 'revoke?': HttpsAddress }),
  'scopes?': strict({ 'read?': ScopeGroups, 'write?': ScopeGroups }),
  'instanceUrlTemplate?': text(2048),
});

const McpServer = strict({ url: HttpsAddress, transport: Type.Enum(['http', 'sse']) });

/** Exactly one way to reach the provider. */
const Reach = strict(
  {
    'mcp?': strict({ server: McpServer }),
    'openapi?': strict({ ref: text(2048, 1) }),
    'integration?': strict({ node: TypeId }),
  },
  { minProperties: 1, maxProperties: 1 },
);

export const Provider = strict({
  id: matching('^[a-z][a-z0-9-]*$', 128),
  displayName: Label,
  category: Type.Enum(CATEGORIES.split(' ')),
  auth: Auth,
  reach: Reach,
  'consumerNodes?': list(TypeId, 100),
  'docsUrl?': Address,
  /** The only hosts that credentials of this provider travel to; the rule is in `rules-declarative.ts`. */
  'apiHosts?': list(text(253, 1), 100, { minItems: 1, uniqueItems: true }),
  'vendor?': Data,
});
export type Provider = Static<typeof Provider>;

export const ConnectionPackManifest = manifestOf('connection', { provider: Provider });
