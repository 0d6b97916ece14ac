/** What a tenant's runs write, through the front door: packs, forks, children and people's inputs. */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { formsOf } from '@gantry/protocol/redaction';
import { sharedPackTest } from '../packs/testing/pack-test.ts';
import { edge, node, workflow } from '../testing/definitions.ts';
import { onePerFile } from '../testing/one-per-file.ts';

const TENANT = 'default';
const TYPE = 'vendor.acme.leak';
const SECRET = 'sk-live/0123456789+ä"bcdef';
const FORMS = formsOf(SECRET);

const openPacks = onePerFile(async (t) => {
  const api = await sharedPackTest(t);
  api.host.services.redactions.note(TENANT, SECRET, 'cred-1');
  return api;
});

function assertClean(text: string, where: string): void {
  for (const form of FORMS) assert.ok(!text.includes(form), `${where} has ${form}: ${text}`);
  // In a document, a text of a form is escaped once more.
  for (const form of FORMS) assert.ok(!text.includes(JSON.stringify(form).slice(1, -1)), `${where}: ${text}`);
}

/** Everything that can be read of a run. */
async function assertRunClean(api: Awaited<ReturnType<typeof openPacks>>, runId: string): Promise<string> {
  const urls = ['', '/events/poll?timeout=1', '/debug-bundle', '/explain', '/ancestry'].map(
    (path) => `/v1/runs/${runId}${path}`,
  );
  const texts = await Promise.all(urls.map(async (url) => [url, (await api.get(url)).body] as const));
  for (const [url, text] of texts) assertClean(text, url);
  return texts.map(([, text]) => text).join('\n');
}

/** The code itself, which is kept too, does not have the secret. */
const leaking = (body: string, role = 'pure') => {
  const backwards = JSON.stringify([...SECRET].reverse().join(''));
  return {
    nodes: { [TYPE]: { body: `const secret = [...${backwards}].reverse().join(''); ${body}`, role } },
  };
};

test('outputs, logs, chunks, variables and names that pack code makes of a secret', async () => {
  const api = await openPacks();
  await api.install(
    leaking(`
      const base64 = Buffer.from('user:' + secret).toString('base64');
      ctx.log('info', 'got ' + secret, { [secret]: base64, list: [encodeURIComponent(secret)] });
      for (const unit of 'x' + secret + base64) await ctx.emit({ type: 'output.chunk', data: { chunk: unit } });
      ctx.variables.set('kept', secret);
      return { secret, json: JSON.stringify({ secret }), hex: Buffer.from(secret).toString('hex'), [secret]: 1 };`),
  );
  const variables = [{ name: 'kept', type: 'string' as const }];
  await api.registered(
    workflow('leak', [node('a', TYPE), node('b', 'core.noop')], { variables, edges: [edge('a', 'b')] }),
  );
  const runId = await api.start('leak');
  const run = await api.ended(runId);
  assert.equal(run.status, 'completed', JSON.stringify(run));
  assert.deepEqual(run.variables, { kept: '[REDACTED:cred-1]' });
  const text = await assertRunClean(api, runId);
  assert.match(text, /got \[REDACTED:cred-1\]/);
  const { events } = (await api.get(`/v1/runs/${runId}/events/poll?timeout=1`)).json();
  const chunks = events.filter(({ type }: { type: string }) => type === 'output.chunk');
  const joined = chunks.map(({ payload }: { payload: { chunk: string } }) => payload.chunk).join('');
  assertClean(joined, 'the joined chunks');
  assert.match(joined, /^x\[REDACTED:cred-1\].*\[REDACTED:cred-1\]/);
});

test('errors of nodes, with their details, also where the message is cut', async () => {
  const api = await openPacks();
  await api.install(
    leaking(`
      const message = 'x'.repeat(4_090) + secret;
      throw Object.assign(new Error(ctx.config.long ? message : 'bad key ' + secret), {
        code: 'NO', details: { tried: secret } });`),
  );
  for (const long of [false, true]) {
    await api.registered(workflow('fail', [node('a', TYPE, { long })]));
    const runId = await api.start('fail');
    assert.equal((await api.ended(runId)).status, 'failed');
    const text = await assertRunClean(api, runId);
    assert.ok(!text.includes(SECRET.slice(0, 8)), text.slice(-300));
  }
});

test('what people send: inputs, metadata, tags and answers; and what the definition itself says', async () => {
  const api = await openPacks();
  const written = 'written-into-the-definition';
  api.host.services.redactions.note(TENANT, written, 'cred-3');
  const inputs = { text: { type: 'static' as const, value: `key ${written}` } };
  await api.registered(
    workflow('said', [node('a', 'core.noop', {}, { inputs })], {
      variables: [{ name: 'given', type: 'string' }],
    }),
  );
  const tagged = { metadata: { note: SECRET }, tags: [SECRET.slice(0, 20)] };
  const runId = await api.start('said', { inputs: { given: SECRET }, ...tagged });
  const run = await api.ended(runId);
  assert.deepEqual(run.variables, { given: '[REDACTED:cred-1]' });
  assert.ok(!(await assertRunClean(api, runId)).includes(written));
  const fork = await api.post(`/v1/runs/${runId}:fork`, { mode: 'replay', fromSeq: 0 });
  assert.equal(fork.statusCode, 201, fork.body);
  await api.ended(fork.json().runId);
  assert.doesNotMatch(await assertRunClean(api, fork.json().runId), /replay.diverged/);
});

test('a log that is older than the secret is forked without it', async () => {
  const api = await openPacks();
  const later = 'known-only-later-123';
  await api.registered(
    workflow('older', [node('a', 'core.noop')], { variables: [{ name: 'given', type: 'string' }] }),
  );
  const runId = await api.start('older', { inputs: { given: later } });
  await api.ended(runId);
  api.host.services.redactions.note(TENANT, later, 'cred-2');
  for (const mode of ['replay', 'branch']) {
    const fork = await api.post(`/v1/runs/${runId}:fork`, { mode, fromSeq: 1 });
    assert.equal(fork.statusCode, 201, fork.body);
    const ended = await api.ended(fork.json().runId);
    assert.deepEqual(ended.variables, { given: '[REDACTED:cred-2]' });
  }
});

test('text of another tenant is not redacted: it could find out by guessing what the secrets are', async () => {
  const api = await openPacks();
  const guessed = 'guessed-by-another-tenant';
  api.host.services.redactions.note(TENANT, guessed, 'cred-4');
  const scopes = ['runs:create', 'runs:read', 'workflows:write'];
  const key = await api.post('/v1/host/gantry/keys', { name: 'other', tenant: 'other', scopes });
  assert.equal(key.statusCode, 201, key.body);
  const headers = { authorization: `Bearer ${key.json().key}` };
  const variables = [{ name: 'given', type: 'string' as const }];
  const definition = workflow('guess', [node('a', 'core.noop')], { variables });
  const registered = await api.post('/v1/host/gantry/workflows', definition, headers);
  assert.equal(registered.statusCode, 201, registered.body);
  const started = await api.post('/v1/runs', { workflowId: 'guess', inputs: { given: guessed } }, headers);
  const run = (await api.get(`/v1/runs/${started.json().runId}`, headers)).json();
  assert.deepEqual(run.variables, { given: guessed });
});

test('errors of requests', async () => {
  const api = await openPacks();
  const bad = await api.post('/v1/runs', { workflowId: `no ${SECRET}`, [SECRET]: 1 });
  assert.equal(bad.statusCode, 400, bad.body);
  assert.match(bad.body, /\[REDACTED:cred-1\]/);
  assertClean(bad.body, 'the refusal');
  const unknown = await api.post('/v1/runs', { workflowId: SECRET });
  assert.equal(unknown.statusCode, 404, unknown.body);
  assertClean(unknown.body, 'the refusal');
});

test('a node that runs again reads what it first got, though the record of it is sealed', async () => {
  const api = await openPacks();
  await api.install(
    leaking(
      `
      const held = ctx.sideEffects.tryAcquire({ effectType: 'login', idempotencyKey: 'k' });
      if (held.state === 'acquired') ctx.sideEffects.markCompleted(held.effectId, { token: 'Bearer ' + secret });
      if (ctx.attempt === 0) return { status: 'error', error: { code: 'BUSY', message: 'later', retryable: true } };
      return { isSame: held.previousResult.token === 'Bearer ' + secret };`,
      'side-effect',
    ),
  );
  await api.registered(
    workflow('again', [node('a', TYPE, {}, { settings: { maxRetries: 1, backoffMs: 0 } })]),
  );
  const run = await api.ended(await api.start('again'));
  assert.deepEqual(run.outputs, { isSame: true }, JSON.stringify(run));
});

test('an answer of pack data with a secret that was stored before it was one is sealed on record', async () => {
  const api = await openPacks();
  const stored = 'stored-before-it-was-a-secret';
  await api.install(
    leaking(
      `
      if (ctx.config.stores) return ctx.storage.kv.put({ key: 'old', value: ctx.config.stores });
      const { actual } = await ctx.storage.kv.compareAndSwap({ key: 'old', newValue: ctx.attempt });
      if (ctx.attempt === 0) return { status: 'error', error: { code: 'BUSY', message: 'later', retryable: true } };
      return { length: actual.length };`,
      'side-effect',
    ),
  );
  const retried = { settings: { maxRetries: 1, backoffMs: 0 } };
  await api.registered(workflow('stores', [node('a', TYPE, { stores: stored })]));
  await api.registered(workflow('swaps', [node('a', TYPE, {}, retried)]));
  await api.ended(await api.start('stores'));
  api.host.services.redactions.note(TENANT, stored, 'cred-5');
  const run = await api.ended(await api.start('swaps'));
  assert.deepEqual(run.outputs, { length: stored.length }, JSON.stringify(run));
  const database = new DatabaseSync(path.join(api.dataDir, 'surfaces.db'), { readOnly: true });
  const records = database
    .prepare("select answer from invocations where method like '%compareAndSwap'")
    .all();
  database.close();
  assert.equal(records.length, 1);
  assert.match(String(records[0]?.answer), /^sealed:/);
});

test('a call to the host with the secret in it is refused, as text, in bytes or encoded', async () => {
  const api = await openPacks();
  await api.install(
    leaking(
      `
      const refused = [];
      for (const value of [secret, { deep: [secret] }, Buffer.from(secret).toString('hex')])
        await ctx.storage.kv.put({ key: 'k', value }).catch(({ code }) => refused.push(code));
      await ctx.storage.kv.get({ key: secret }).catch(({ code }) => refused.push(code));
      const body = new TextEncoder().encode('x' + secret);
      await ctx.storage.blob.put({ key: 'b', body }).catch(({ code }) => refused.push(code));
      await ctx.storage.kv.put({ key: 'k', value: secret.slice(1) });
      return { refused };`,
      'side-effect',
    ),
  );
  await api.registered(workflow('passes', [node('a', TYPE)]));
  const run = await api.ended(await api.start('passes'));
  const { refused } = run.outputs as { refused: string[] };
  assert.deepEqual(refused, Array(5).fill('secret_in_arguments'), JSON.stringify(run));
});

test('nothing in the data folder has the secret, in whatever encoding', async () => {
  const { dataDir } = await openPacks();
  const files = await readdir(dataDir, { recursive: true, withFileTypes: true });
  let bytes = 0;
  for (const file of files.filter((each) => each.isFile())) {
    const text = (await readFile(path.join(file.parentPath, file.name))).toString('latin1');
    bytes += text.length;
    for (const form of FORMS) assert.ok(!text.includes(Buffer.from(form).toString('latin1')), file.name);
  }
  assert.ok(bytes > 100_000, 'the database was read');
});
