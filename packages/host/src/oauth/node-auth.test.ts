/** Nodes that sign in with a provider, through the front door. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, RunEventDoc } from '@gantry/protocol';
import { assertError, assertPublic } from '../api/testing/api-test.ts';
import { declaredArchive } from '../packs/connections/testing/declared-archive.ts';
import { packArchive } from '../packs/testing/pack-archive.ts';
import { node, workflow } from '../testing/definitions.ts';
import { onePerFile } from '../testing/one-per-file.ts';
import { acmeProvider, CONNECTIONS_URL, type OAuthTest, oauthTest } from './testing/oauth-test.ts';

const TYPE = 'vendor.acme.call';
const auth = { type: 'oauth2', provider: 'acme', scopes: ['entries.read'] };
const packOf = (body: string, over: JsonObject = {}) => ({
  nodes: { [TYPE]: { role: 'side-effect', body, more: { auth: { ...auth, ...over } } } },
});

/** Gives away what it was given, wherever it can. */
const CARELESS = `
  const { acme } = ctx.credentials;
  ctx.log('info', 'with ' + acme.value);
  return { length: acme.value.length, token: acme.value, ref: ctx.secretRefs.acme.ref };`;

const open = onePerFile(async (t) => {
  const api = await oauthTest(t);
  await api.configured();
  await api.install(packOf(CARELESS));
  const settings = { maxRetries: 3, backoffMs: 1_000 };
  for (const definition of [
    workflow('one', [node('a', TYPE)]),
    workflow('patient', [node('a', TYPE, {}, { settings })]),
  ])
    await api.registered(definition);
  return api;
});

async function eventsOf(api: OAuthTest, runId: string): Promise<RunEventDoc[]> {
  const { events } = (await api.get(`/v1/runs/${runId}/events/poll?timeout=1`)).json();
  for (const event of events) assertPublic('run-event.schema.json', event);
  return events;
}

const payloadsOf = async (api: OAuthTest, runId: string, type: string): Promise<JsonObject[]> =>
  (await eventsOf(api, runId)).flatMap((event) => (event.type === type ? [event.payload] : []));

const INVALID_GRANT = { status: 400, type: 'application/json', body: '{"error":"invalid_grant"}' };

test('a pack whose node could never sign in is refused when it is installed', async () => {
  const api = await open();
  const install = async (over: JsonObject) =>
    api.upload((await packArchive({ name: 'vendor.acme.other', ...packOf('', over) })).bytes);
  assertError(await install({ provider: 'nobody' }), 400, 'connection_provider_unresolved');
  const scope = await install({ scopes: ['entries.read', 'entries.burn'] });
  assertError(scope, 400, 'oauth_scope_unsupported');
  assert.deepEqual(scope.json().details.scopes, ['entries.burn']);
  const describe = async (name: string, over: JsonObject) => {
    const manifest = { name: `vendor.acme.${name}`, kind: 'connection', provider: acmeProvider(over) };
    assert.equal((await api.upload(await declaredArchive(manifest))).statusCode, 201);
  };
  await describe('keyed', { id: 'keyed', auth: { kind: 'api_key' } });
  assertError(await install({ provider: 'keyed' }), 400, 'oauth_provider_unsupported');
  for (const name of ['twin-a', 'twin-b']) await describe(name, { id: 'twin' });
  assertError(await install({ provider: 'twin' }), 409, 'connection_provider_conflict');
});

test('a node that signs in has a token, its run says so once, and nobody else sees the token', async () => {
  const api = await open();
  const missing = (await api.ended(await api.start('one'))).error as JsonObject;
  assert.equal(missing.code, 'credential_unavailable');
  assert.match(String(missing.message), /gantry connections connect acme/);
  const credentialRef = await api.connected();
  const first = await api.ended(await api.start('one'));
  assert.equal(first.status, 'completed', JSON.stringify(first));
  const { length, token, ref } = first.outputs as JsonObject;
  assert.ok(
    Number(length) > 20 && ref === credentialRef && String(token).length !== length,
    JSON.stringify(first.outputs),
  );
  const told = { provider: 'acme', credentialRef, scopes: ['entries.read'] };
  assert.deepEqual(await payloadsOf(api, String(first.runId), 'connector.authorized'), [told]);
  const second = await api.ended(await api.start('one'));
  assert.deepEqual(await payloadsOf(api, String(second.runId), 'connector.authorized'), []);
  const { value } = await api.host.services.credentials.open(
    {
      tenant: 'default',
      workspace: 'default',
      principal: (await api.get(`${CONNECTIONS_URL}/${credentialRef}`)).json().principal,
    },
    credentialRef,
  );
  const secret = value.slice('Bearer '.length);
  for (const { runId } of [first, second])
    for (const url of [
      `/v1/runs/${runId}`,
      `/v1/runs/${runId}/events/poll?timeout=1`,
      `/v1/runs/${runId}/debug-bundle`,
    ])
      assert.ok(!(await api.get(url)).body.includes(secret), url);
});

test('a provider that does not answer keeps the node waiting, and the run says for what', async () => {
  const api = await open();
  await api.connected();
  api.provider.answerWith({ status: 502, type: 'text/html', body: '<h1>Bad gateway</h1>' });
  api.outlive();
  const runId = await api.start('patient');
  for (;;) {
    const explained = (await api.get(`/v1/host/gantry/runs/${runId}/explain`)).json();
    const [wait] = explained.waitingFor;
    if (wait?.kind === 'retry') {
      assert.match(
        wait.text,
        /a failed \(connector_unavailable\).*Its token endpoint answered 502\. The connection is kept/,
      );
      break;
    }
    assert.equal(explained.status, 'running', JSON.stringify(explained));
    await api.get(`/v1/runs/${runId}/events/poll?timeout=1`);
  }
  api.provider.answerWith(undefined);
  assert.equal((await api.ended(runId)).status, 'completed');
});

test('an expired connection fails the node, is told in its run, and says how to reconnect', async () => {
  const api = await open();
  const credentialRef = await api.connected();
  api.provider.answerWith(INVALID_GRANT);
  api.outlive();
  const run = await api.ended(await api.start('patient'));
  api.provider.answerWith(undefined);
  const error = run.error as JsonObject;
  assert.equal(error.code, 'connector_auth_expired', JSON.stringify(run));
  assert.match(String(error.message), /Type: gantry connections connect acme$/);
  const [told, ...more] = await payloadsOf(api, String(run.runId), 'connector.auth_expired');
  assert.deepEqual([told?.provider, told?.credentialRef, more], ['acme', credentialRef, []]);
  const { actions } = (await api.get(`/v1/host/gantry/runs/${run.runId}/explain`)).json();
  assert.match(actions[0].text, /gantry connections connect acme/);
  const view = (await api.get(`${CONNECTIONS_URL}/${credentialRef}`)).json();
  assert.deepEqual([view.state, view.next], ['expired', 'gantry connections connect acme']);
  assert.equal(await api.connected(), credentialRef);
  assert.equal((await api.ended(await api.start('one'))).status, 'completed');
});

test('a request that carries an expired connection is not sent, and its run is told the same', async () => {
  const api = await open();
  const credentialRef = await api.connected();
  const body = `
    const answer = await ctx.http.safeFetch('https://api.acme.example/', { credential: { ref: ctx.config.ref } });
    return { status: answer.status };`;
  const type = 'vendor.acme.fetch';
  await api.install({ name: 'vendor.acme.fetching', nodes: { [type]: { role: 'side-effect', body } } });
  await api.registered(workflow('fetches', [node('a', type, { ref: credentialRef })]));
  api.provider.answerWith(INVALID_GRANT);
  api.outlive();
  const run = await api.ended(await api.start('fetches'));
  api.provider.answerWith(undefined);
  assert.equal((run.error as JsonObject).code, 'connector_auth_expired', JSON.stringify(run));
  const [told, ...more] = await payloadsOf(api, String(run.runId), 'connector.auth_expired');
  assert.deepEqual([told?.provider, told?.credentialRef, more], ['acme', credentialRef, []]);
});

test('discovery names what can be connected to', async () => {
  const api = await open();
  const discovered = (await api.get('/.well-known/openwop')).json();
  assert.deepEqual(discovered.connections, { supported: true, packsSupported: true });
  assert.deepEqual(discovered.oauth, {
    supported: true,
    grants: ['authorization_code', 'client_credentials', 'refresh_token'],
    providers: [
      {
        id: 'acme',
        authUrl: 'https://login.acme.example/authorize',
        tokenUrl: 'https://login.acme.example/token',
        scopesSupported: ['entries.read', 'entries.write'],
      },
    ],
  });
  await api.request({ method: 'DELETE', url: '/v1/host/gantry/oauth-clients/acme' });
  assert.deepEqual((await api.get('/.well-known/openwop')).json().oauth.providers, []);
});
