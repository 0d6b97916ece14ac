/** API keys: requests and responses. */
import Type, { type Static } from 'typebox';
import { closedObject, optional, Texts } from './schema.ts';
import { RoleScope, Scope } from './scope.ts';

const LIFETIME_MAX_SECONDS = 10 * 365 * 86_400;
const ROTATION_GRACE_MAX_SECONDS = 90 * 86_400;

export const Tenant = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' });

/** The name of a workspace of a tenant. */
export const Workspace = Tenant;

export const CreateKeyRequest = closedObject({
  name: Type.String({ minLength: 1, maxLength: 128 }),
  scopes: Type.Array(Type.Union([Scope, RoleScope]), { minItems: 1, maxItems: 256, uniqueItems: true }),
  tenant: optional(Tenant),
  workspace: optional(Workspace),
  test: optional(Type.Boolean()),
  expiresInSeconds: optional(Type.Integer({ minimum: 1, maximum: LIFETIME_MAX_SECONDS })),
});
export type CreateKeyRequest = Static<typeof CreateKeyRequest>;

export const RotateKeyRequest = closedObject({
  graceSeconds: optional(Type.Integer({ minimum: 0, maximum: ROTATION_GRACE_MAX_SECONDS })),
});

export const KeySummary = Type.Object({
  keyId: Type.String(),
  tenant: Type.String(),
  workspace: Type.String(),
  principal: Type.String(),
  name: Type.String(),
  scopes: Texts,
  createdAt: Type.String(),
  expiresAt: optional(Type.String()),
  revokedAt: optional(Type.String()),
});
export type KeySummary = Static<typeof KeySummary>;

/** The only response with the key itself. */
export const NewKey = Type.Object({ ...KeySummary.properties, key: Type.String() });
export type NewKey = Static<typeof NewKey>;
