import assert from 'node:assert/strict';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { ownerOf } from '@gantry/protocol';
import { assertError } from '../api/testing/api-test.ts';
import { declaredArchive } from '../packs/connections/testing/declared-archive.ts';
import { onePerFile } from '../testing/one-per-file.ts';
import {
  acmeProvider,
  Browser,
  CLIENTS_URL,
  CONNECTIONS_URL,
  hrefIn,
  type OAuthTest,
  oauthTest,
  PUBLIC_URL,
  redirectUri,
} from './testing/oauth-test.ts';
import { CLIENT } from './testing/provider-server.ts';

const open = onePerFile(async (t) => {
  const api = await oauthTest(t);
  await api.configured();
  return api;
});

const connectionOf = async (api: OAuthTest, id: string) => (await api.get(`${CONNECTIONS_URL}/${id}`)).json();

test('a person authorizes, and the host sends the token as that person, to the hosts of the pack alone', async () => {
  const api = await open();
  const id = await api.connected();
  const view = await connectionOf(api, id);
  assert.deepEqual(
    [view.provider, view.state, view.access, view.scopes, view.scope, view.grant],
    ['acme', 'connected', 'read', ['entries.read'], 'user', 'authorization_code'],
  );
  const owner = ownerOf({ tenant: 'default', principal: view.principal });
  const { header, value, provenance, apiHosts } = await api.host.services.credentials.open(owner, id);
  assert.deepEqual(apiHosts, ['api.acme.example']);
  assert.equal(header, 'authorization');
  assert.match(value, /^Bearer .{20,}$/);
  assert.deepEqual(provenance.audiences, ['api.acme.example', '*.api.acme.example']);
  for (const url of [CONNECTIONS_URL, CLIENTS_URL, '/v1/host/gantry/credentials']) {
    const { body } = await api.get(url);
    assert.ok(!body.includes(value.slice('Bearer '.length)) && !body.includes(CLIENT.clientSecret), url);
  }
});

test('the page names who asks for what, escapes it, and lets nothing in', async () => {
  const api = await open();
  const { authorizeUrl = '' } = await api.connect({ scope: 'workspace' });
  const { body, headers } = await api.page(authorizeUrl);
  for (const text of [
    'Acme &lt;Ltd&gt; (acme)',
    'entries.read',
    'look entries',
    'default (tenant default)',
    'Read<',
  ])
    assert.ok(body.includes(text), `${text} in ${body}`);
  assert.ok(body.includes(api.provider.origin) && !body.includes('<script') && !body.includes('<Ltd>'));
  assert.match(
    String(headers['content-security-policy']),
    /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'; frame-ancestors 'none'/,
  );
  assert.equal(headers['cache-control'], 'no-store');
  assert.equal(headers['referrer-policy'], 'no-referrer');
  assert.match(
    String(headers['set-cookie']),
    /^gantry-authorize-oaz_[^;]+; Path=\/v1\/host\/gantry\/authorize; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
  );
});

test('a second click goes on to the same address, another browser does not', async () => {
  const api = await open();
  const { authorizeUrl = '' } = await api.connect();
  const browser = new Browser();
  await api.page(authorizeUrl, browser);
  const [first, second] = [
    await api.page(authorizeUrl, browser, 'POST'),
    await api.page(authorizeUrl, browser, 'POST'),
  ];
  const challengeOf = (body: string) => new URL(hrefIn(body)).searchParams.get('code_challenge');
  assert.ok(challengeOf(first.body) === challengeOf(second.body) && challengeOf(first.body) !== null);
  const other = new Browser();
  await api.page(authorizeUrl, other);
  assert.match((await api.page(authorizeUrl, other, 'POST')).body, /not the browser/);
  assert.equal((await api.page(authorizeUrl, new Browser(), 'POST')).status, 400);
});

test('a consent counts only from the page of the link, with the cookie that it set', async () => {
  const api = await open();
  const { authorizeUrl = '' } = await api.connect();
  const browser = new Browser();
  const { body, headers: shown } = await api.page(authorizeUrl, browser);
  assert.match(body, /Go on only if you asked/);
  const [name = ''] = String(shown['set-cookie']).split('=', 1);
  const url = authorizeUrl.replace(PUBLIC_URL, '');
  const submit = (headers: Record<string, string>) =>
    api.host.app.inject({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    });
  for (const foreign of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }]) {
    const refused = await submit({ ...browser.headers(PUBLIC_URL), ...foreign });
    assert.equal(refused.statusCode, 403);
    assert.match(refused.body, /Answer on the page that the link opens/);
  }
  for (const cookie of ['chosen', 'chosen.', `${'a'.repeat(32)}.${'b'.repeat(43)}`]) {
    const planted = { cookie: `${name}=${cookie}` };
    assert.match((await submit(planted)).body, /not the browser/);
    const replaced = await api.host.app.inject({ method: 'GET', url, headers: planted });
    assert.ok(!String(replaced.headers['set-cookie']).includes(`=${cookie};`));
  }
  const own = { ...browser.headers(PUBLIC_URL), 'sec-fetch-site': 'same-origin' };
  assert.match((await submit(own)).body, /Continue to Acme/);
});

test('a callback counts once, in the browser that consented, and for its provider alone', async () => {
  const api = await open();
  const before = api.provider.asked.authorization_code ?? 0;
  const browser = new Browser();
  const { authorizeUrl = '' } = await api.connect();
  const callback = await api.consent(authorizeUrl, browser);
  const stranger = await api.page(callback, new Browser());
  assert.match(stranger.body, /Nothing was stored/);
  assert.equal(stranger.status, 400);
  assert.match(
    (await api.page(callback.replace('/callback/acme', '/callback/robot'), browser)).body,
    /Nothing was stored/,
  );
  for (const state of ['', 'x', new URL(authorizeUrl).pathname.split('/').at(-1) ?? ''])
    assert.match(
      (await api.page(`${redirectUri('acme')}?code=1&state=${state}`, browser)).body,
      /Nothing was stored/,
    );
  assert.equal(api.provider.asked.authorization_code ?? 0, before);
  // None of these has used it up
  assert.equal((await api.page(callback, browser)).status, 200);
  assert.match((await api.page(callback, browser)).body, /used already/);
  assert.match((await api.page(authorizeUrl, browser)).body, /used already/);
  assert.equal(api.provider.asked.authorization_code, before + 1);
});

test('what the provider denies, or somebody else answers, is said and not stored', async () => {
  const api = await open();
  for (const [query, said] of [
    ['error=access_denied&error_description=%3Cb%3E', /did not grant access \(access_denied\)/],
    ['code=1&iss=https://evil.example', /does not match the request/],
    ['code=forged', /refused the request for a token \(invalid_grant\)/],
  ] as const) {
    const browser = new Browser();
    const { authorizeUrl = '' } = await api.connect({ scope: 'workspace' });
    await api.page(authorizeUrl, browser);
    const going = await api.page(authorizeUrl, browser, 'POST');
    const state = new URL(hrefIn(going.body)).searchParams.get('state');
    const page = await api.page(`${redirectUri('acme')}?${query}&state=${state}`, browser);
    assert.equal(page.status, 400);
    assert.match(page.body, said);
    assert.ok(!page.body.includes('<b>'));
  }
  const { connections } = (await api.get(CONNECTIONS_URL)).json();
  assert.ok(connections.every(({ scope }: { scope: string }) => scope !== 'workspace'));
});

test('write access is asked for separately, and the connection stays the same', async () => {
  const api = await open();
  const workspace = { scope: 'workspace' };
  const early = await api.post(CONNECTIONS_URL, { provider: 'acme', access: 'write', ...workspace });
  assertError(early, 400, 'validation_error');
  const id = await api.connected(workspace);
  const { authorizeUrl = '' } = await api.connect({ ...workspace, access: 'write' });
  assert.match((await api.page(authorizeUrl)).body, /Read and write.*entries\.write/s);
  assert.equal(await api.connected({ ...workspace, access: 'write' }), id);
  const { access, scopes } = await connectionOf(api, id);
  assert.deepEqual([access, scopes], ['write', ['entries.read', 'entries.write']]);
});

test('a client that is authorized itself needs no person', async () => {
  const api = await open();
  const auth = {
    kind: 'oauth2',
    authFlow: 'client_credentials',
    scopes: { read: [{ key: 'a', label: 'A', scopes: ['entries.read'] }] },
  };
  await api.configured({ id: 'robot', auth });
  const { connection } = await api.connect({ provider: 'robot', scope: 'workspace' });
  assert.deepEqual(
    [connection?.grant, connection?.state, connection?.refreshable],
    ['client_credentials', 'connected', true],
  );
  api.provider.answerWith({ status: 500, type: 'text/html', body: '<h1>Down</h1>' });
  const answer = await api.post(CONNECTIONS_URL, { provider: 'robot', scope: 'workspace' });
  api.provider.answerWith(undefined);
  assertError(answer, 503, 'connector_unavailable');
});

test('a token of OAuth that somebody stored by hand is sent as it is', async () => {
  const api = await open();
  const expiresAt = new Date(Date.now() + 1_000).toISOString();
  const given = {
    ref: 'by-hand',
    kind: 'oauth2',
    value: 'a-token-of-mine',
    audiences: ['api.acme.example'],
    expiresAt,
  };
  assert.equal((await api.post('/v1/host/gantry/credentials', given)).statusCode, 201);
  const owner = ownerOf({ tenant: 'default' });
  const { value, renew } = await api.host.services.credentials.open(owner, 'by-hand');
  assert.deepEqual([value, (await renew?.())?.value], ['Bearer a-token-of-mine', 'Bearer a-token-of-mine']);
});

test('a disconnected service is gone, with its tokens', async () => {
  const api = await open();
  const id = await api.connected();
  assert.equal((await api.request({ method: 'DELETE', url: `${CONNECTIONS_URL}/${id}` })).statusCode, 200);
  assertError(await api.get(`${CONNECTIONS_URL}/${id}`), 404, 'not_found');
  assertError(await api.get(`/v1/host/gantry/credentials/${id}`), 404, 'credential_not_found');
});

test('providers without a pack, a client or OAuth are named with what to do', async () => {
  const api = await open();
  const connect = (provider: string) => api.post(CONNECTIONS_URL, { provider });
  assertError(await connect('nobody'), 400, 'connection_provider_unresolved');
  assertError(
    await api.post(CLIENTS_URL, { provider: 'nobody', clientId: 'x' }),
    400,
    'connection_provider_unresolved',
  );
  const install = async (name: string, over: Parameters<typeof acmeProvider>[0]) => {
    const manifest = { name: `vendor.acme.${name}`, kind: 'connection', provider: acmeProvider(over) };
    const installed = await api.upload(await declaredArchive(manifest), '?development=true');
    assert.equal(installed.statusCode, 201, installed.body);
  };
  await install('keyed', { id: 'keyed', auth: { kind: 'api_key' } });
  assertError(
    await api.post(CLIENTS_URL, { provider: 'keyed', clientId: 'x' }),
    400,
    'oauth_provider_unsupported',
  );
  await install('bare', { id: 'bare' });
  const bare = await connect('bare');
  assertError(bare, 400, 'oauth_provider_unsupported');
  assert.match(bare.json().message, /gantry connections configure bare --client-id ID/);
  assert.equal((await api.post(CLIENTS_URL, { provider: 'bare', clientId: 'x' })).statusCode, 200);
  assert.equal((await connect('bare')).statusCode, 201);
  const endpoints = { authorize: 'https://evil.example/a', token: 'https://evil.example/t' };
  await install('bare', { id: 'bare', auth: { kind: 'oauth2', endpoints } });
  const moved = await connect('bare');
  assertError(moved, 400, 'oauth_provider_unsupported');
  assert.match(moved.json().message, /names other addresses/);
});

test('a new root key: client, tokens and what a person has begun are sealed anew, and go on', async () => {
  const api = await open();
  const id = await api.connected();
  const browser = new Browser();
  const { authorizeUrl = '' } = await api.connect({ scope: 'workspace' });
  const callback = await api.consent(authorizeUrl, browser);
  const { keyId, state, unreadable } = (await api.post('/v1/host/gantry/rekey', {})).json();
  assert.deepEqual([state, unreadable], ['done', 0]);
  const database = new DatabaseSync(path.join(api.dataDir, 'gantry.db'), { readOnly: true });
  for (const kind of ['oauth-client', 'oauth-authorization', 'credential']) {
    const found = database.prepare('select body from entries where kind = ?').all(kind);
    const keys = found.flatMap(({ body }) => [...String(body).matchAll(/ealed":"([0-9a-f]{8})\./g)]);
    assert.ok(keys.length > 0 && keys.every(([, key]) => key === keyId), kind);
  }
  database.close();
  assert.equal((await api.page(callback, browser)).status, 200);
  api.outlive();
  const owner = ownerOf({ tenant: 'default', principal: (await connectionOf(api, id)).principal });
  const { refresh_token: before = 0 } = api.provider.asked;
  assert.match((await api.host.services.credentials.open(owner, id)).value, /^Bearer .{20,}$/);
  assert.equal(api.provider.asked.refresh_token, before + 1);
});
