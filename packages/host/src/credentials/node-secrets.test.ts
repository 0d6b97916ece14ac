/** Values in pack code: who gets them, what is on record of it, and that they are nowhere else. */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '@gantry/protocol';
import { type PackTest, sharedPackTest } from '../packs/testing/pack-test.ts';
import { node, workflow } from '../testing/definitions.ts';
import { onePerFile } from '../testing/one-per-file.ts';

const URL = '/v1/host/gantry/credentials';
const TYPE = 'vendor.acme.call';
const VALUE = 'sk_live_CANARY_7d21bb40aa';
const PEERS = { peerDependencies: { 'secrets.resolveInPack': 'supported', kvStorage: 'supported' } };

const packs = onePerFile(sharedPackTest);

/** Runs one node with this body, and answers the run. */
async function ran(
  body: string,
  { more = {}, manifest = {} }: { more?: JsonObject; manifest?: JsonObject } = {},
) {
  const api = await packs();
  await api.install({ nodes: { [TYPE]: { role: 'side-effect', body, more } }, manifest });
  await api.register(workflow('one', [node('a', TYPE)]));
  return { api, run: await api.ended(await api.start('one')) };
}

const errorOf = (run: JsonObject): JsonObject => run.error as JsonObject;

async function added(input: JsonObject): Promise<PackTest> {
  const api = await packs();
  const made = await api.post(URL, { value: VALUE, ...input });
  assert.equal(made.statusCode, 201, made.body);
  return api;
}

async function onDisk(api: PackTest, text: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(api.dataDir, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (entry.isFile() && (await readFile(file)).includes(text)) found.push(entry.name);
  }
  return found;
}

test('resolve: the code has the value, an act says so, and neither journal nor log has it', async () => {
  await added({ ref: 'resolved' });
  const body = `
    const { plaintext, rotatedAt } = await ctx.secrets.resolve({ ref: 'resolved', purpose: 'to post an ad' });
    await ctx.storage.kv.put({ key: 'k', value: plaintext.length });
    return { length: plaintext.length, first: plaintext.slice(0, 7), rotated: rotatedAt ?? null };`;
  const { api, run } = await ran(body, { manifest: PEERS });
  assert.deepEqual(
    run.outputs,
    { length: VALUE.length, first: VALUE.slice(0, 7), rotated: null },
    JSON.stringify(run),
  );
  const { acts } = (await api.get('/v1/host/gantry/acts')).json();
  const [{ actId: _, ts, packVersion: __, ...act }] = acts;
  assert.deepEqual(act, {
    type: 'secret.resolved',
    ref: 'resolved@1',
    purpose: 'to post an ad',
    runId: run.runId,
    nodeId: 'a',
    packName: 'vendor.acme.tools',
  });
  assert.ok(Date.parse(ts));
  assert.equal((await api.get(`${URL}/resolved`)).json().givenToPackCode, true);
  const events = await api.get(`/v1/runs/${run.runId}/events/poll?timeout=1`);
  assert.ok(!events.body.includes(VALUE));
  assert.deepEqual(await onDisk(api, VALUE), []);
  const gone = await api.request({ method: 'DELETE', url: `/v1/host/gantry/acts/${acts[0].actId}` });
  assert.equal(gone.statusCode, 405);
});

test('resolve: refusals have the codes of the protocol, and write no act', async () => {
  const api = await added({ ref: 'short', value: 'abc' });
  await added({ ref: 'late', expiresAt: '2001-01-01T00:00:00Z' });
  await added({ ref: 'revoked' });
  await api.post(`${URL}/revoked:revoke`, {});
  await added({ ref: 'hidden', scope: 'run', runId: (await ran('return {};')).run.runId as string });
  const before = (await api.get('/v1/host/gantry/acts')).json().acts.length;
  const wanted = {
    missing: 'secret_not_found',
    short: 'secret_access_denied',
    late: 'secret_expired',
    revoked: 'secret_revoked',
    hidden: 'secret_access_denied',
  };
  const body = `
    const codes = {};
    for (const ref of ${JSON.stringify(Object.keys(wanted))})
      await ctx.secrets.resolve({ ref, purpose: 'p' }).catch((error) => { codes[ref] = error.code; });
    await ctx.secrets.resolve({ ref: 'short', purpose: ' ' }).catch((error) => { codes.blank = error.code; });
    return codes;`;
  const { run } = await ran(body, { manifest: PEERS });
  assert.deepEqual(run.outputs, { ...wanted, blank: 'validation_error' }, JSON.stringify(run));
  assert.equal((await api.get('/v1/host/gantry/acts')).json().acts.length, before);
});

test('resolve: only for packs that declare it, and so often in a minute', async () => {
  await added({ ref: 'often' });
  const once = `await ctx.secrets.resolve({ ref: 'often', purpose: 'p' }); return {};`;
  const undeclared = await ran(once);
  assert.equal(errorOf(undeclared.run).code, 'sandbox_capability_denied', JSON.stringify(undeclared.run));
  const body = `
    for (let n = 0; ; n++)
      try { await ctx.secrets.resolve({ ref: 'often', purpose: 'p' }); }
      catch (error) { return { n, code: error.code }; }`;
  const { run } = await ran(body, { manifest: PEERS });
  assert.deepEqual(run.outputs, { n: 120, code: 'secret_quota_exhausted' }, JSON.stringify(run));
});

test('requiresSecrets: references are looked up before the node runs', async () => {
  const wrong = {
    kind: { id: 'main-crm', kind: 'oauth-token' },
    scope: { id: 'main-crm', kind: 'api-key', scope: 'user' },
    provider: { id: 'main-crm', kind: 'ai-provider', provider: 'nobody' },
  };
  const needing = { crm: { id: 'crm', kind: 'api-key' }, ...wrong };
  const api = await packs();
  const nodes = Object.entries(needing).map(([name, secret]) => [
    `vendor.acme.${name}`,
    { role: 'side-effect', body: 'return ctx.secretRefs;', more: { requiresSecrets: [secret] } },
  ]);
  await api.install({ nodes: Object.fromEntries(nodes) });
  const run = async (name: string): Promise<JsonObject> => {
    await api.register(workflow(name, [node('a', `vendor.acme.${name}`)]));
    return api.ended(await api.start(name));
  };
  const absent = errorOf(await run('crm'));
  assert.equal(absent.code, 'credential_unavailable');
  assert.match(String(absent.message), /gantry credentials add crm --scope tenant/);
  await added({ ref: 'main-crm', provider: 'crm', kind: 'bearer' });
  const found = await run('crm');
  assert.deepEqual(found.outputs, { crm: { ref: 'main-crm', kind: 'api-key', scope: 'tenant' } });
  for (const name of Object.keys(wrong))
    assert.equal(errorOf(await run(name)).code, 'credential_unavailable', name);
  await added({ ref: 'other-crm', provider: 'crm', kind: 'bearer' });
  assert.equal(errorOf(await run('crm')).code, 'credential_unavailable', 'two would do');
});

test('requiredCredentials: the value is in the code, and an act says so', async () => {
  const more = { requiredCredentials: [{ key: 'slack', scope: 'user' }] };
  const api = await added({ ref: 'slack', scope: 'user', kind: 'bearer' });
  const body = `return { kind: ctx.credentials.slack.kind, length: ctx.credentials.slack.value.length };`;
  const { run } = await ran(body, { more });
  assert.deepEqual(run.outputs, { kind: 'bearer', length: VALUE.length }, JSON.stringify(run));
  const [act] = (await api.get('/v1/host/gantry/acts')).json().acts;
  assert.deepEqual([act.type, act.ref, act.runId], ['credential.resolved', 'slack@1', run.runId]);
  assert.deepEqual(await onDisk(api, VALUE), []);
  await added({ ref: 'tiny', scope: 'user', value: 'abc' });
  const tiny = await ran(body, { more: { requiredCredentials: [{ key: 'tiny', scope: 'user' }] } });
  assert.equal(errorOf(tiny.run).code, 'credential_unavailable');
});
