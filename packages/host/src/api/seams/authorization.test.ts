import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seamTest } from './testing/seam-test.ts';

test('a key may do what its scopes say; who is unknown or revoked may do nothing', async (t) => {
  const seam = await seamTest(t);
  const made = await seam.post('/v1/host/gantry/keys', { name: 'reader', scopes: ['runs:read'] });
  assert.equal(made.statusCode, 201, made.body);
  const { keyId, principal } = made.json();
  const decide = async (principal: string, action: string): Promise<boolean> =>
    (await seam.drive('authorization/decide', { principal, action, resource: 'runs' })).allowed;
  assert.equal(await decide(principal, 'runs:read'), true);
  assert.equal(await decide(principal, 'runs:create'), false);
  assert.equal(await decide('nobody', 'runs:read'), false);
  await seam.request({ method: 'DELETE', url: `/v1/host/gantry/keys/${keyId}` });
  assert.equal(await decide(principal, 'runs:read'), false);
});
