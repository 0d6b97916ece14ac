/** Whether a key of the caller's tenant has a permission, by the same record that authorizes every request. */
import type { Api } from '@gantry/http';
import Type from 'typebox';
import { keyScopes } from '../../principals.ts';
import type { ApiDeps } from '../context.ts';
import { seam } from './seam.ts';

const Text = Type.String({ minLength: 1, maxLength: 256 });
const Asked = Type.Object({ principal: Text, action: Text, resource: Type.Optional(Type.Unknown()) });

export function authorizationSeam(app: Api, { store, now }: ApiDeps): void {
  const scopesOf = keyScopes(store, now);
  seam(app, 'authorization/decide', Asked, async ({ tenant }, { principal, action }) => {
    const scopes = await scopesOf(tenant, principal);
    return { allowed: scopes?.includes(action) ?? false };
  });
}
