import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realHost } from './testing/real-host.ts';

test('open prints an address that signs in a browser once, as the key of the command line', async (t) => {
  const host = await realHost(t, []);
  const { code, out } = await host.gantry('open');
  assert.equal(code, 0);
  const { origin, pathname, hash } = new URL(out.trim());
  assert.equal(pathname, '/sign-in');
  const headers = { origin, 'x-gantry-console': '1', 'content-type': 'application/json' };
  const signIn = () =>
    fetch(`${origin}/v1/host/gantry/session`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ code: hash.slice(1) }),
    });
  const answer = await signIn();
  assert.equal(answer.status, 201);
  assert.equal(((await answer.json()) as { keyId: string }).keyId, (await host.client.session.who()).keyId);
  assert.equal((await signIn()).status, 401);
});
