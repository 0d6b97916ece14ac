import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seamTest } from './testing/seam-test.ts';

const SYNTHETIC = {
  provider: 'synthetic',
  authUrl: 'https://oauth.synthetic.openwop.test/authorize',
  tokenUrl: 'https://oauth.synthetic.openwop.test/token',
  scopes: ['openwop.read', 'openwop.write'],
  authorizationCode: 'openwop-synthetic-auth-code-1f4b9e',
  state: 'openwop-synthetic-state-7c2a8d',
  redirectUri: 'https://host.example/openwop/oauth/callback',
  codeVerifier: 'openwop-synthetic-pkce-verifier-3e9f1b2c5a7d4e8f0a1b2c3d4e5f6a7b',
  accessTokenCanary: 'OPENWOP_OAUTH_TOKEN_CANARY_9d4c1f7a',
  refreshTokenCanary: 'OPENWOP_OAUTH_REFRESH_CANARY_2b8e6a3f',
};
const { accessTokenCanary, refreshTokenCanary, authorizationCode, state, codeVerifier } = SYNTHETIC;
const SECRETS = [accessTokenCanary, refreshTokenCanary, authorizationCode, state, codeVerifier];

interface Surfaces {
  credentialRef: string;
  runId: string;
  events: { type: string; payload: Record<string, unknown> }[];
  snapshot: { status: string; outputs: Record<string, unknown> };
}

function assertSignedIn({ credentialRef, events, snapshot }: Surfaces, provider: string): void {
  const authorized = events.find(({ type }) => type === 'connector.authorized')?.payload;
  assert.deepEqual([authorized?.provider, authorized?.credentialRef], [provider, credentialRef]);
  assert.equal(snapshot.status, 'completed', JSON.stringify(snapshot));
  assert.equal(snapshot.outputs.ref, credentialRef);
}

test('a code becomes a connection that a node uses, and no secret is in what is seen of it', async (t) => {
  const api = await seamTest(t);
  const roundtrip: Surfaces = await api.drive('oauth/authorize-code-roundtrip', SYNTHETIC);
  assertSignedIn(roundtrip, 'synthetic');
  const bundle = (await api.get(`/v1/runs/${roundtrip.runId}/debug-bundle`)).body;
  for (const secret of SECRETS) assert.ok(!(JSON.stringify(roundtrip) + bundle).includes(secret), secret);
  const canary = 'OPENWOP_OAUTH_CANARY_b7d3e1a9c2';
  const echo: Surfaces = await api.drive('oauth/connector-echo', { canary });
  assertSignedIn(echo, 'synthetic-echo');
  assert.ok(!JSON.stringify(echo).includes(canary));
  // Again: nothing of the first call is in the way
  assert.equal((await api.drive('oauth/connector-echo', { canary })).credentialRef, echo.credentialRef);
});
