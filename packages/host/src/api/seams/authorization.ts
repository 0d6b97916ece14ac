/** Whether a key of the caller's tenant may do something: the same record that every request is held against. */
import type { Api } from '@gantry/http';
import Type from 'typebox';
import type { ApiDeps } from '../context.ts';
import { seam } from './seam.ts';

const Text = Type.String({ minLength: 1, maxLength: 256 });
const Asked = Type.Object({ principal: Text, action: Text, resource: Type.Optional(Type.Unknown()) });
const Verdict = Type.Object({ allowed: Type.Boolean() });

export function authorizationSeam(app: Api, { store, now }: ApiDeps): void {
  seam(app, 'authorization/decide', [Asked, Verdict], async ({ tenant }, { principal, action }) => {
    const key = (await store.records.keys(tenant)).find(({ keyId }) => keyId === principal);
    const isValid = key?.revokedAt === null && (key.expiresAt === null || key.expiresAt > now());
    return { allowed: isValid && key.scopes.includes(action) };
  });
}
