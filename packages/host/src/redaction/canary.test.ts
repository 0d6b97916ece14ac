/**
 * One value is planted at each place where a secret enters. Pack code then leaks all that it gets, by every way that it
 * has. None of them may be found wherever text leaves the host, or on its disk, in any encoding and split anywhere.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import type { RunEventDoc } from '@gantry/protocol';
import { formsOf } from '@gantry/protocol/redaction';
import { declaredArchive } from '../packs/connections/testing/declared-archive.ts';
import { type PackTest, packTest } from '../packs/testing/pack-test.ts';
import { readSettings } from '../settings.ts';
import { edge, node, workflow } from '../testing/definitions.ts';
import { TEST_KEY, temporaryFolder } from '../testing/host-process.ts';
import { receiver } from '../webhooks/testing/receiver.ts';

const URL = '/v1/host/gantry/credentials';
/** Events that a subscriber hears of; each happens once. */
const TOLD = ['run.started', 'node.completed', 'node.failed', 'run.failed'];
const LEAK = 'vendor.acme.leak';
const FAIL = 'vendor.acme.fail';

/** With characters that every encoder writes in its own way. */
const canary = (name: string): string => `CANARY/${name}+${randomBytes(12).toString('base64url')}"ö`;
const CANARIES = {
  created: canary('created'),
  rotated: canary('rotated'),
  replaced: canary('replaced'),
  variable: canary('variable'),
  file: canary('file'),
  resolved: canary('resolved'),
  required: canary('required'),
  password: canary('password'),
  // Only such characters are taken for a token
  token: `CANARY-token_${randomBytes(12).toString('base64url')}`,
  client: canary('client-secret'),
  // As it goes into a header
  model: `CANARY-model_${randomBytes(12).toString('base64url')}`,
  database: canary('database'),
  master: canary('master-key-of-at-least-so-many-characters'),
};
/** What pack code asks for by name. */
const REFS = ['created', 'rotated', 'variable', 'file', 'resolved'];

/** Gives out one token. */
async function tokenServer(t: TestContext): Promise<string> {
  const token = { access_token: CANARIES.token, token_type: 'bearer', expires_in: 3_600 };
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(token));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Answers the id of a connection whose token is planted. */
async function connected(api: PackTest, origin: string): Promise<string> {
  const auth = { kind: 'oauth2', authFlow: 'client_credentials' };
  const provider = { id: 'robot', displayName: 'Robot', category: 'crm', auth };
  const reach = { integration: { node: LEAK } };
  const manifest = { name: 'vendor.acme.robot', kind: 'connection', provider: { ...provider, reach } };
  const installed = await api.upload(await declaredArchive(manifest));
  assert.equal(installed.statusCode, 201, installed.body);
  const client = { provider: 'robot', clientId: 'id', clientSecret: CANARIES.client, tokenUrl: origin };
  const configured = await api.post('/v1/host/gantry/oauth-clients', client);
  assert.ok(configured.statusCode < 300, configured.body);
  const made = await api.post('/v1/host/gantry/connections', { provider: 'robot', scope: 'workspace' });
  assert.ok(made.statusCode < 300, made.body);
  return made.json().connection.connectionId;
}

/** Tells the key that it was sent, in every way in which a model can answer: text, thoughts, tool calls and errors. */
async function modelServer(t: TestContext): Promise<string> {
  const errors = [400, 401, 404, 413, 429, 500, 502];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    const key = String(request.headers.authorization).replace('Bearer ', '');
    const ask = /"call (\d+)"/.exec(body)?.[1] ?? '0';
    const status = errors[Number(ask) - 3];
    if (status !== undefined) {
      const told = { error: { message: `You sent ${key}`, type: key, code: key } };
      return response
        .writeHead(status, { 'retry-after': '3600', 'x-key': key })
        .end(status === 502 ? `<h1>${key}</h1>` : JSON.stringify(told));
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const tell = (data: object): boolean => response.write(`data: ${JSON.stringify(data)}\n\n`);
    const say = (delta: object, finish_reason: string | null = null): boolean =>
      tell({ id: key, model: key, created: 1, choices: [{ index: 0, delta, finish_reason }] });
    for (const content of [`<${key.slice(0, 9)}`, `${key.slice(9)}>`]) say({ content });
    say({ reasoning_content: key });
    const call = { name: 'search', arguments: JSON.stringify({ key }) };
    if (ask === '1') say({ tool_calls: [{ index: 0, id: key, type: 'function', function: call }] });
    if (ask === '2') tell({ error: { message: key, type: key } });
    else say({}, 'stop');
    response.end('data: [DONE]\n\n');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

interface World {
  readonly tokens: string;
  readonly api: PackTest;
  readonly lines: string[];
  readonly delivered: () => Promise<string>;
  readonly webhookSecret: string;
}

async function openWorld(t: TestContext): Promise<World> {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  await mkdir(path.join(folder.path, 'default'));
  await writeFile(path.join(folder.path, 'default', 'token'), `${CANARIES.file}\n`);
  const { url, got } = await receiver(t);
  const lines: string[] = [];
  const tokens = await tokenServer(t);
  const ai = path.join(folder.path, 'ai.json');
  const lab = { id: 'lab', url: await modelServer(t), models: ['m'], credential: 'model' };
  await writeFile(ai, JSON.stringify({ endpoints: [lab] }));
  const settings = readSettings([], {
    GANTRY_AI: ai,
    GANTRY_MASTER_KEY: CANARIES.master,
    GANTRY_SECRETS_ENV: 'CANARY',
    CANARY: CANARIES.variable,
    GANTRY_SECRETS_DIR: folder.path,
    GANTRY_EGRESS_ALLOW: `webhook=${new globalThis.URL(url).origin},oauth=${tokens}`,
    GANTRY_CACHE: `postgres://canary:${encodeURIComponent(CANARIES.database)}@127.0.0.1:1/none`,
  });
  const { masterKey, secretVariables, secretsDir, egressAllow, backends, ai: models } = settings;
  const api = await packTest(t, {
    settings: {
      masterKey,
      secretVariables,
      secretsDir,
      egressAllow,
      backends,
      ai: models,
      logLevel: 'debug',
    },
    logTo: { write: (line: string) => void lines.push(line) },
  });
  const hook = await api.post('/v1/webhooks', { url, events: TOLD });
  assert.equal(hook.statusCode, 201, hook.body);
  return {
    api,
    tokens,
    lines,
    webhookSecret: hook.json().secret,
    delivered: async () => JSON.stringify(await got(TOLD.length)),
  };
}

async function plant(api: PackTest): Promise<void> {
  const add = async (ref: string, given: object): Promise<void> => {
    const made = await api.post(URL, { ref, audiences: ['api.example.com'], ...given });
    assert.equal(made.statusCode, 201, made.body);
  };
  await add('created', { value: CANARIES.created });
  await add('rotated', { value: CANARIES.replaced });
  const rotated = await api.post(`${URL}/rotated:rotate`, { value: CANARIES.rotated });
  assert.equal(rotated.statusCode, 200, rotated.body);
  await add('variable', { source: { store: 'env', name: 'CANARY' } });
  await add('file', { source: { store: 'files', name: 'token' } });
  await add('resolved', { value: CANARIES.resolved });
  await add('required', { value: CANARIES.required, scope: 'user' });
  await add('model', { value: CANARIES.model, kind: 'bearer', audiences: ['127.0.0.1'] });
  await add('login', { value: `user:${CANARIES.password}`, kind: 'basic' });
}

const GET = `
  const values = [ctx.credentials.required.value];
  for (const ref of [...${JSON.stringify([...REFS, 'rotated@1'])}, ctx.config.connection])
    values.push((await ctx.secrets.resolve({ ref, purpose: 'to leak it' })).plaintext);`;

const LEAKS = `${GET}
  const encoders = [
    (value) => value, (value) => JSON.stringify({ value }), encodeURIComponent, encodeURI,
    (value) => Buffer.from(value).toString('hex'), (value) => Buffer.from(value).toString('hex').toUpperCase(),
    ...[0, 1, 2].flatMap((before) => ['base64', 'base64url'].map((kind) =>
      (value) => Buffer.from('x'.repeat(before) + value + 'y').toString(kind))),
  ];
  const forms = values.flatMap((value) => encoders.map((encode) => encode(value)));
  for (const form of forms) ctx.log('info', 'before ' + form, { [form]: form });
  const refused = new Set();
  for (const value of values) {
    await ctx.storage.kv.put({ key: 'k', value }).catch(({ code }) => refused.add(code));
    const body = new TextEncoder().encode(value);
    await ctx.storage.blob.put({ key: 'k', body }).catch(({ code }) => refused.add(code));
  }
  await ctx.http.safeFetch('https://elsewhere.example/', { credential: { ref: 'created' } }).catch(() => {});
  await ctx.storage.cache.get({ key: 'k' }).catch(({ message }) => ctx.log('warn', message));
  const said = [];
  const tools = [{ name: 'search', parameters: { type: 'object' } }];
  for (let call = 0; call < 10; call++) {
    const messages = [{ role: 'user', content: 'call ' + call }];
    await ctx.callAIWithTools({ provider: 'lab', messages, tools }).then((answer) => said.push(answer), (error) => said.push(error.message, error.details));
  }
  ctx.variables.set('kept', forms.join());
  let split = 0;
  for (const form of encoders.map((encode) => encode(values.at(-2))))
    for (let at = 1; at < form.length; at += ctx.config.step)
      for (const chunk of ['<' + form.slice(0, at), form.slice(at) + '>'])
        ctx.emit({ type: 'output.chunk', data: { chunk, channel: 'c' + (split++ >> 1) } });
  return { said, forms, values, refused: [...refused], deep: [{ values }], size: forms.length };`;

const FAILS = `${GET} throw Object.assign(new Error('failed with ' + values.join()), { details: { values } });`;

/** Every form of every canary, also escaped once more in JSON; not found by the code that is tested. */
function canaries(more: readonly string[]): RegExp {
  const forms = [...Object.values(CANARIES), TEST_KEY, ...more].flatMap(formsOf);
  const spelled = forms.flatMap((form) => [form, JSON.stringify(form).slice(1, -1)]);
  const bytes = spelled.map((form) => Buffer.from(form).toString('latin1'));
  return new RegExp([...new Set([...spelled, ...bytes])].map(escaped).join('|'));
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');

const PEERS = ['aiProviders', 'secrets.resolveInPack', 'kvStorage', 'blobStorage', 'cache', 'httpClient'];

/** Runs the code that leaks, and answers its run. */
async function leak(api: PackTest, connection: string): Promise<string> {
  const peerDependencies = Object.fromEntries(PEERS.map((name) => [name, 'supported']));
  const more = { requiredCredentials: [{ key: 'required', scope: 'user' }] };
  const acting = { role: 'side-effect', more };
  const nodes = { [LEAK]: { ...acting, body: LEAKS }, [FAIL]: { ...acting, body: FAILS } };
  await api.install({ nodes, manifest: { peerDependencies } });
  const variables = ['kept', 'said'].map((name) => ({ name, type: 'string' as const }));
  const steps = [node('a', LEAK, { step: 1, connection }), node('b', FAIL, { connection })];
  await api.registered(workflow('leaks', steps, { variables, edges: [edge('a', 'b')] }));
  const runId = await api.start('leaks', { inputs: { said: CANARIES.password } });
  const run = await api.ended(runId);
  assert.equal(run.status, 'failed', JSON.stringify(run).slice(0, 2_000));
  return runId;
}

/** Every event, as a live reader gets them. */
async function streamOf(api: PackTest, runId: string): Promise<{ text: string; events: RunEventDoc[] }> {
  const address = await api.host.app.listen({ port: 0, host: '127.0.0.1' });
  const headers = { authorization: `Bearer ${TEST_KEY}` };
  const stream = await fetch(`${address}/v1/runs/${runId}/events?streamMode=debug`, { headers });
  const text = await stream.text();
  const data = text.split('\n').filter((line) => line.startsWith('data: {'));
  return { text, events: data.map((line) => JSON.parse(line.slice('data: '.length))) };
}

async function answersAbout(api: PackTest, runId: string): Promise<Record<string, string>> {
  const fork = await api.post(`/v1/runs/${runId}:fork`, { mode: 'replay', fromSeq: 0 });
  const own = ['', '/events/poll?timeout=1', '/debug-bundle', '/explain'];
  const urls = [
    ...own.map((url) => `/v1/runs/${runId}${url}`),
    `/v1/runs/${fork.json().runId}/events/poll?timeout=1`,
    '/v1/runs',
    '/v1/webhooks',
    URL,
    '/v1/host/gantry/acts',
    '/v1/host/gantry/metrics',
    '/v1/host/gantry/surfaces',
    '/v1/host/gantry/oauth-clients',
    '/v1/host/gantry/connections',
    `${URL}/${encodeURIComponent(CANARIES.created)}`,
  ];
  const texts: Record<string, string> = {};
  for (const url of urls) texts[url] = (await api.get(url)).body;
  const wrong = { workflowId: CANARIES.created, [CANARIES.resolved]: 1 };
  texts.refusal = (await api.post('/v1/runs', wrong)).body;
  return texts;
}

test('no canary leaves, and none is on the disk', async (t) => {
  const { api, tokens, lines, delivered, webhookSecret } = await openWorld(t);
  await plant(api);
  const planted = canaries([webhookSecret]);
  for (const value of Object.values(CANARIES)) assert.match(value, planted);
  const runId = await leak(api, await connected(api, tokens));
  const { text: stream, events } = await streamOf(api, runId);
  const done = events.find(({ type }) => type === 'node.completed');
  const outputs = done?.payload.outputs as { refused: string[]; said: unknown[] } | undefined;
  assert.match(JSON.stringify(outputs?.said), /<\[REDACTED:\w+\]>.*rejected the key/s);
  assert.deepEqual(outputs?.refused, ['secret_in_arguments']);
  const chunks = events.flatMap(({ type, payload }) => (type === 'output.chunk' ? [payload.chunk] : []));
  assert.match(chunks.join(''), /^<\[REDACTED:\w+\]>/);
  assert.ok(chunks.length > 1_000 && lines.length > 20, `${chunks.length} chunks, ${lines.length} lines`);
  const texts: Record<string, string> = {
    ...(await answersAbout(api, runId)),
    stream,
    chunks: chunks.join(''),
    log: lines.join(''),
    webhook: await delivered(),
  };
  for (const [where, text] of Object.entries(texts)) {
    assert.ok(text.length > 2, `${where} is empty`);
    assert.equal(planted.exec(text)?.[0], undefined, where);
  }
  for (const file of await readdir(api.dataDir, { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue;
    const bytes = await readFile(path.join(file.parentPath, file.name), 'latin1');
    assert.equal(planted.exec(bytes)?.[0], undefined, file.name);
  }
});
