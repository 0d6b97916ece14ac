/** Packs that are not JavaScript in our sandbox: Python beside it, and code that runs elsewhere. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAllowList } from '@gantry/egress';
import { archiveOf } from '@gantry/packs';
import type { JsonObject } from '@gantry/protocol';
import { watchSockets } from '../../../egress/src/testing/sockets.ts';
import { mcpServer } from '../../../sandbox/src/remote/testing/mcp-server.ts';
import { wasmModule } from '../../../sandbox/src/testing/wasm.ts';
import { assertError } from '../api/testing/api-test.ts';
import { node, workflow } from '../testing/definitions.ts';
import { receiver } from '../webhooks/testing/receiver.ts';
import { grantingSurfaces } from './testing/pack-archive.ts';
import { PACKS_URL, packTest } from './testing/pack-test.ts';

const TYPE = 'vendor.acme.greet';

const archive = async (
  runtime: JsonObject,
  files: Readonly<Record<string, string>> = {},
): Promise<Buffer> => {
  const manifest = {
    name: 'vendor.acme.greetings',
    version: '1.0.0',
    engines: { openwop: '>=1.0.0 <2.0.0' },
    runtime,
    nodes: [{ typeId: TYPE, version: '1.0.0', category: 'data', role: 'side-effect' }],
  };
  const texts = { 'pack.json': JSON.stringify(manifest), ...files };
  const entries = Object.entries(texts).map(([path, text]) => [path, Buffer.from(text)] as const);
  return (await archiveOf(new Map(entries))).bytes;
};

const greeting = workflow('greeting', [
  node('a', TYPE, {}, { inputs: { name: { type: 'static', value: 'Ada' } } }),
]);

test('a Python pack runs, and reaches the surfaces of the host', async (t) => {
  const api = await packTest(t);
  const { nodePackRuntimes } = (await api.get('/.well-known/openwop')).json();
  const code = [
    'def greet(ctx):',
    '    n = ctx.storage.kv.atomicIncrement({"key": "greeted"})["value"]',
    '    return {"said": "Hello " + ctx.inputs["name"], "n": n}',
    `nodes = {"${TYPE}": greet}`,
  ].join('\n');
  const bytes = await archive({ language: 'python', entry: 'main.py' }, { 'main.py': code });
  const installed = await api.upload(bytes, await grantingSurfaces(bytes));
  if (nodePackRuntimes.python === undefined) {
    assert.notEqual(process.env.CI, 'true', 'Python must be there in CI');
    return assertError(installed, 400, 'unsupported_runtime');
  }
  assert.equal(installed.statusCode, 201, installed.body);
  await api.registered(greeting);
  assert.deepEqual((await api.ended(await api.start('greeting'))).outputs, { said: 'Hello Ada', n: 1 });
  await api.post(`${PACKS_URL}/vendor.acme.greetings/grants`, { requires: [] });
  const { error } = await api.ended(await api.start('greeting'));
  const { code: denied, message } = error as JsonObject;
  assert.equal(denied, 'sandbox_capability_denied', JSON.stringify(error));
  assert.match(String(message), /gantry pack grant vendor\.acme\.greetings host\.kvStorage/);
});

test('a WebAssembly pack runs, and discovery names it', async (t) => {
  const api = await packTest(t);
  const typeId = 'wasm.hello';
  const manifest = {
    name: 'vendor.test.wasm',
    version: '1.0.0',
    engines: { openwop: '>=1.0.0 <2.0.0' },
    runtime: { language: 'wasm', entry: 'pack.wasm', wasm: { abiVersion: 1 } },
    nodes: [{ typeId, version: '1.0.0', category: 'data', role: 'pure' }],
  };
  const files = new Map([
    ['pack.json', Buffer.from(JSON.stringify(manifest))],
    ['pack.wasm', Buffer.from(await wasmModule('packed'))],
  ]);
  const loaded = async () => (await api.get('/.well-known/openwop')).json().nodePackRuntimes.wasm.loadedPacks;
  assert.deepEqual(await loaded(), []);
  assert.equal((await api.upload((await archiveOf(files)).bytes)).statusCode, 201);
  assert.deepEqual(await loaded(), ['vendor.test.wasm']);
  await api.registered(workflow('greeting', [node('a', typeId)]));
  assert.deepEqual((await api.ended(await api.start('greeting'))).outputs, { hello: 'world' });
});

test('a remote pack is called where it runs, once that is granted', async (t) => {
  const server = await mcpServer(t, {
    tools: {
      [TYPE]: (request) => ({
        content: [],
        structuredContent: { said: `Hello ${(request.arguments.inputs as JsonObject).name}` },
      }),
    },
  });
  const target = await receiver(t);
  const sockets = watchSockets(t);
  const allow = `remote-pack=${new URL(server.url).origin},webhook=${new URL(target.url).origin}`;
  const api = await packTest(t, { settings: { egressAllow: readAllowList(allow) } });
  const subscription = { url: target.url, events: ['run.completed'] };
  assert.equal((await api.post('/v1/webhooks', subscription)).statusCode, 201);
  const bytes = await archive({ language: 'remote', entry: server.url });
  assertError(await api.upload(bytes), 400, 'pack_runtime_requirement_unmet');
  assert.equal((await api.upload(bytes, '?grant=net.outbound')).statusCode, 201);
  await api.registered(greeting);
  assert.deepEqual((await api.ended(await api.start('greeting'))).outputs, { said: 'Hello Ada' });
  const receipts = (await api.get(`${PACKS_URL}/vendor.acme.greetings/receipts`)).json();
  assert.match(JSON.stringify(receipts), /net\.outbound/);
  assert.ok(
    server.heard.every((headers) => headers.authorization === undefined),
    'no credentials leave',
  );
  await target.got(1);
  assert.ok(sockets.all.size >= 2);
  assert.deepEqual(sockets.foreign(), [], 'every connection was opened by egress');
});
