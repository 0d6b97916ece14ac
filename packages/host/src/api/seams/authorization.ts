/** Whether a key of the caller's tenant may do something: the same record that every request is held against. */
import { type Api, callerOf } from '@gantry/http';
import Type from 'typebox';
import type { ApiDeps } from '../context.ts';

const Text = Type.String({ minLength: 1, maxLength: 256 });
const Asked = Type.Object({ principal: Text, action: Text, resource: Type.Optional(Type.Unknown()) });
const Verdict = Type.Object({ allowed: Type.Boolean() });

export function authorizationSeam(app: Api, { store, now }: ApiDeps): void {
  app.post(
    '/v1/host/sample/authorization/decide',
    {
      schema: { summary: 'Whether a principal may do something', body: Asked, response: { 200: Verdict } },
    },
    async (request) => {
      const { principal, action } = request.body;
      const keys = await store.records.keys(callerOf(request).tenant);
      const key = keys.find(({ keyId }) => keyId === principal);
      const isValid = key?.revokedAt === null && (key.expiresAt === null || key.expiresAt > now());
      return { allowed: isValid && key.scopes.includes(action) };
    },
  );
}
