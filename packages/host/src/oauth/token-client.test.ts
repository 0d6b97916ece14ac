import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createEgress, readAllowList } from '@gantry/egress';
import { ALLOWED, REFUSED } from '../../../egress/src/testing/corpus.ts';
import { httpServer } from '../../../egress/src/testing/server.ts';
import { watchSockets } from '../../../egress/src/testing/sockets.ts';
import { judgeCallback } from './callback.ts';
import type { OAuthProvider } from './provider.ts';
import { createTokenClient, type TokenAnswer } from './token-client.ts';

const providerAt = (token: string, over: Partial<OAuthProvider> = {}): OAuthProvider => ({
  id: 'acme',
  displayName: 'Acme',
  flow: 'authorization_code',
  endpoints: { authorize: 'https://login.acme.example/authorize', token, revoke: token },
  client: { clientId: 'us', clientSecret: 'hush-hush', authMethod: 'basic' },
  apiHosts: [],
  ...over,
});

const STATE = 'the-state';
const callbackOf = (query: string) => new URLSearchParams(`state=${STATE}&${query}`);
const judged = (query: string, over: Partial<OAuthProvider> = {}) =>
  judgeCallback(providerAt('https://login.acme.example/token', over), callbackOf(query), STATE);

/** Asks a server that answers so. */
async function asked(
  t: TestContext,
  { status = 200, type = 'application/json', body = '' },
): Promise<TokenAnswer> {
  const port = await httpServer(t, (_request, response) =>
    response.writeHead(status, { 'content-type': type }).end(body),
  );
  const origin = `http://127.0.0.1:${port}`;
  const egress = createEgress({ policy: { purpose: 'oauth', allow: readAllowList(`oauth=${origin}`) } });
  return createTokenClient({ egress, tenant: 'default' }).refresh(providerAt(`${origin}/token`), 'refresh-1');
}

test('tokens are read, with what the provider says of them', async (t) => {
  const answer = {
    access_token: 'a',
    token_type: 'Bearer',
    expires_in: '60',
    refresh_token: 'r',
    scope: 'x y',
  };
  const tokens = { accessToken: 'a', refreshToken: 'r', lifetimeMs: 60_000, scopes: ['x', 'y'] };
  assert.deepEqual(await asked(t, { body: JSON.stringify(answer) }), { kind: 'tokens', tokens });
  const signed = JSON.stringify({ access_token: 'a', token_type: 'bearer', id_token: 'not.a.token' });
  assert.deepEqual(await asked(t, { body: signed }), { kind: 'tokens', tokens: { accessToken: 'a' } });
});

test('a refusal is one only in the form of OAuth, and its text is not repeated', async (t) => {
  const body = JSON.stringify({ error: 'invalid_grant', error_description: 'token refresh-1 of Ada' });
  assert.deepEqual(await asked(t, { status: 400, body }), { kind: 'refused', code: 'invalid_grant' });
  assert.deepEqual(await asked(t, { status: 200, body }), { kind: 'refused', code: 'invalid_grant' });
  const client = JSON.stringify({ error: 'invalid_client' });
  assert.deepEqual(await asked(t, { status: 401, body: client }), {
    kind: 'refused',
    code: 'invalid_client',
  });
});

const NO_ANSWERS = [
  { status: 200, type: 'text/html', body: '<h1>Sign in</h1>' },
  { status: 200, body: '' },
  { status: 200, body: '[]' },
  { status: 200, body: 'null' },
  { status: 200, body: '{"access_token":"a"}' },
  { status: 200, body: '{"access_token":"a b","token_type":"bearer"}' },
  { status: 200, body: '{"access_token":"a","token_type":"mac"}' },
  { status: 200, body: JSON.stringify({ access_token: 'a'.repeat(9_000), token_type: 'bearer' }) },
  { status: 200, body: JSON.stringify({ access_token: 'a', token_type: 'bearer', pad: 'x'.repeat(70_000) }) },
  { status: 500, body: '{"error":"invalid_grant"}' },
  { status: 502, type: 'text/html', body: '<h1>Bad gateway</h1>' },
  { status: 400, body: '{"error":"slow_down"}' },
  { status: 404, type: 'text/plain', body: 'no' },
  { status: 302, body: '' },
  { status: 204, body: '' },
] as const;

test('anything else says nothing about the grant', async (t) => {
  for (const answer of NO_ANSWERS) {
    const { kind } = await asked(t, answer);
    assert.equal(kind, 'unanswered', JSON.stringify(answer).slice(0, 200));
  }
});

test('a callback is judged by its issuer, and its errors are named', () => {
  assert.equal(judged('code=1').kind, 'code');
  assert.equal(judged('code=1&iss=https://login.acme.example').kind, 'code');
  assert.equal(judged('code=1&iss=https://login.acme.example/realm').kind, 'code');
  const issuer = 'https://id.acme.example';
  assert.equal(judged(`code=1&iss=${issuer}`, { issuer }).kind, 'code');
  for (const [query, over] of [
    ['code=1&iss=https://evil.example', {}],
    ['code=1&iss=nonsense', {}],
    ['code=1&iss=https://login.acme.example', { issuer }],
    ['code=1&code=2', {}],
    ['', {}],
    ['code=', {}],
    ['code=1&token=x', {}],
    ['code=1&response=x', {}],
    [`code=1&state=${STATE}`, {}],
  ] as const)
    assert.deepEqual(judged(query, over), { kind: 'invalid' }, query);
  assert.deepEqual(judged('error=access_denied'), { kind: 'denied', code: 'access_denied' });
  assert.deepEqual(judged('error=%3Cscript%3E'), { kind: 'denied', code: 'refused' });
});

/** Public names that lead inside. */
const INSIDE = ['10.0.0.7', '127.0.0.1', '169.254.169.254', '::1', '0.0.0.0'];

test('no URL of the corpus is connected to as an endpoint', async (t) => {
  const sockets = watchSockets(t);
  const policy = { purpose: 'oauth', allow: [] } as const;
  const requests = async (token: string, addresses: readonly string[]): Promise<void> => {
    const client = createTokenClient({
      egress: createEgress({ policy, lookup: async () => addresses }),
      tenant: 'acme',
    });
    const provider = providerAt(token);
    const callback = judged('code=1');
    assert.ok(callback.kind === 'code');
    const grant = {
      callback: callback.callback,
      redirectUri: 'https://us.example/',
      codeVerifier: 'v'.repeat(43),
    };
    for (const answer of [
      await client.refresh(provider, 'r'),
      await client.clientCredentials(provider, []),
      await client.exchangeCode(provider, grant),
    ])
      assert.equal(answer.kind, 'unanswered', token);
    await client.revoke(provider, 'r');
  };
  for (const url of Object.values(REFUSED).flat()) await requests(url, ['10.0.0.7']);
  for (const url of ALLOWED.filter((each) => /[a-z]\.[a-z]/i.test(new URL(each).hostname)))
    for (const address of INSIDE) await requests(url, ['93.184.215.14', address]);
  assert.deepEqual([...sockets.all], []);
});
