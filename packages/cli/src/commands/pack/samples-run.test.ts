import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { crc32 } from 'node:zlib';
import { ApiError, type Client } from '@gantry/client';
import { writeArchive } from '@gantry/packs';
import type { JsonObject, WorkflowDefinition } from '@gantry/protocol';
import { onePerFile } from '../../../../host/src/testing/one-per-file.ts';
import { isWaiting, reaches, realHost } from '../../testing/real-host.ts';
import { buildSamples, packIn } from './testing/pack-folder.ts';

let samples: string;
before(async () => {
  samples = await mkdtemp(path.join(tmpdir(), 'gantry-samples-'));
  await buildSamples(samples);
});
after(() => rm(samples, { recursive: true, force: true }));

const isOver = (status: string): boolean => status === 'completed' || status === 'failed';

async function install(client: Client, sample: string, ...grant: string[]) {
  const { bytes } = await writeArchive(path.join(samples, sample));
  return client.packs.install(bytes, { grant });
}

const oneNode = (typeId: string, config: JsonObject, inputs: JsonObject): WorkflowDefinition => ({
  id: typeId.replaceAll('.', '-'),
  name: typeId,
  version: '1.0.0',
  nodes: [
    {
      id: 'node',
      typeId,
      name: 'Node',
      position: { x: 0, y: 0 },
      config,
      inputs: Object.fromEntries(
        Object.entries(inputs).map(([name, value]) => [name, { type: 'static', value }]),
      ),
    },
  ],
  edges: [],
  triggers: [],
  variables: [],
  metadata: {},
  settings: {},
});

interface Part {
  readonly typeId: string;
  readonly config?: JsonObject;
  readonly inputs?: JsonObject;
}

/** Runs one node of a pack to its end. */
async function run(client: Client, { typeId, config = {}, inputs = {} }: Part) {
  await client.workflows.register(oneNode(typeId, config, inputs), { replace: true });
  const { runId } = await client.runs.create({ workflowId: typeId.replaceAll('.', '-') });
  await reaches(client, runId, isOver);
  const { events } = await client.runs.poll(runId, {});
  const end = events.find(({ type }) => type === 'node.completed' || type === 'node.failed');
  assert.ok(end);
  return end.payload;
}

async function codeOf(client: Client, part: Part): Promise<unknown> {
  const { error } = await run(client, part);
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}

const openHost = onePerFile((t) => realHost(t, []));

test('text fills templates and picks values', async () => {
  const { client } = await openHost();
  await install(client, 'text');
  const template = { typeId: 'vendor.gantry.text.template', config: { template: 'Hi {{ name }}, {{n}}!' } };
  const filled = await run(client, { ...template, inputs: { name: 'Ada', n: [1, 2] } });
  assert.deepEqual(filled.outputs, { text: 'Hi Ada, [1,2]!' });
  assert.equal(await codeOf(client, { ...template, inputs: { name: 'Ada' } }), 'template_value_missing');

  const pick = { typeId: 'vendor.gantry.text.pick', inputs: { value: { 'a/b': [{ c: 7 }] } } };
  assert.deepEqual((await run(client, { ...pick, config: { pointer: '/a~1b/0/c' } })).outputs, { value: 7 });
  const fallback = { pointer: '/constructor', fallback: null };
  assert.deepEqual((await run(client, { ...pick, config: fallback })).outputs, { value: null });
  assert.equal(await codeOf(client, { ...pick, config: { pointer: '/a' } }), 'value_missing');
});

test('crc32 runs as WebAssembly', async () => {
  const { client } = await openHost();
  await install(client, 'crc32');
  // In the order in which definitions keep them.
  const inputs = { list: [1, { deep: [] }], text: 'über {"inputs":{}} \\' };
  const { outputs } = await run(client, { typeId: 'vendor.gantry.crc32.inputs', inputs });
  const text = JSON.stringify(inputs);
  assert.deepEqual(outputs, { bytes: Buffer.byteLength(text), crc32: crc32(text) });
});

test('guestbook stores what is signed, apart for each book', async () => {
  const { client } = await openHost();
  await install(client, 'guestbook');
  const read = { typeId: 'vendor.gantry.guestbook.read' };
  assert.deepEqual((await run(client, read)).outputs, { entries: [] });

  const sign = (name: string, config = {}) =>
    run(client, { typeId: 'vendor.gantry.guestbook.sign', config, inputs: { name, message: `I, ${name}` } });
  const [ada, bob, other] = [await sign('Ada'), await sign('Bob'), await sign('Eve', { book: 'other' })];
  const idOf = (signed: typeof ada, number: number): unknown => {
    const { entryId, ...rest } = signed.outputs as { entryId?: unknown };
    assert.deepEqual(rest, { number });
    return entryId;
  };
  idOf(other, 1);
  const entries = [
    { id: idOf(bob, 2), message: 'I, Bob', name: 'Bob', number: 2 },
    { id: idOf(ada, 1), message: 'I, Ada', name: 'Ada', number: 1 },
  ];
  assert.deepEqual((await run(client, read)).outputs, { entries });
  const newest = await run(client, { ...read, inputs: { limit: 1 } });
  assert.deepEqual(newest.outputs, { entries: entries.slice(0, 1) });
});

test('http-check needs its grant, and even with it reaches no private address', async () => {
  const { client } = await openHost();
  await assert.rejects(
    install(client, 'http-check'),
    (error) => error instanceof ApiError && error.code === 'pack_runtime_requirement_unmet',
  );
  await install(client, 'http-check', 'net.outbound');
  const typeId = 'vendor.gantry.http-check.status';
  const url = client.baseUrl.replace('http:', 'https:');
  assert.equal(await codeOf(client, { typeId, inputs: { url } }), 'ssrf_blocked');
  assert.equal(await codeOf(client, { typeId, inputs: { url: client.baseUrl } }), 'ssrf_blocked');
});

test('the review chain becomes a workflow that asks before it passes text on', async () => {
  const { client } = await openHost();
  await install(client, 'text');
  await install(client, 'review');
  const { workflowId } = await client.workflows.fromChain({
    packName: 'vendor.gantry.review',
    chainId: 'vendor.gantry.review.approved-text',
    parameters: { template: 'All is well.' },
  });
  const { runId } = await client.runs.create({ workflowId });
  await reaches(client, runId, isWaiting);
  const [question] = (await client.interrupts.list()).interrupts;
  assert.ok(question);
  await client.interrupts.resolve(runId, question.nodeId, { action: 'accept' });
  const { status } = await reaches(client, runId, isOver);
  assert.equal(status, 'completed');
  const { events } = await client.runs.poll(runId, {});
  const last = events.findLast(({ type }) => type === 'node.completed');
  assert.match(JSON.stringify(last?.payload.outputs), /All is well\./);
});

test('the agent of editor is refused as long as no agents are served', async () => {
  const { client } = await openHost();
  await assert.rejects(
    install(client, 'editor'),
    (error) => error instanceof ApiError && error.code === 'pack_peer_dependency_missing',
  );
});

test('what misbehaves is stopped with its code, and the host goes on', async (t) => {
  const { client: hasty } = await realHost(t, [], { settings: { packTimeoutSeconds: 1 } });
  await install(hasty, 'misbehaving');
  assert.equal(await codeOf(hasty, { typeId: 'vendor.gantry.misbehaving.loop' }), 'sandbox_timeout');

  const { client } = await realHost(t, [], { settings: { packMemoryMb: 64 } });
  await install(client, 'misbehaving');
  await install(client, 'text');
  const code = (name: string) => codeOf(client, { typeId: `vendor.gantry.misbehaving.${name}` });
  assert.equal(await code('memory'), 'sandbox_memory_exceeded');
  assert.match(String(await code('fs')), /^sandbox_(capability_denied|escape_attempt)$/);
  assert.equal(await code('net'), 'sandbox_capability_denied');
  const { outputs } = await run(client, { typeId: 'vendor.gantry.misbehaving.env' });
  assert.deepEqual(outputs, { names: [] });
  const config = { template: 'still here' };
  const fine = await run(client, { typeId: 'vendor.gantry.text.template', config });
  assert.deepEqual(fine.outputs, { text: 'still here' });
});

test('a new pack in Python greets and counts', async (t) => {
  const { client } = await openHost();
  if (!(await client.sandbox()).python) {
    t.skip('this machine runs no Python packs');
    return;
  }
  const root = await mkdtemp(path.join(tmpdir(), 'gantry-python-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  for (const [name, ...more] of [['vendor.acme.pygreeter'], ['vendor.acme.pyvisits', '--storage']] as const) {
    await packIn(root, 'new', name, '--language', 'python', '--out', name, ...more);
    const { bytes } = await writeArchive(path.join(root, name));
    await client.packs.install(bytes, { grant: [] });
  }
  const hello = { typeId: 'vendor.acme.pygreeter.hello', inputs: { name: 'Ada' } };
  assert.deepEqual((await run(client, hello)).outputs, { text: 'Hello, Ada!' });
  const count = { typeId: 'vendor.acme.pyvisits.count', inputs: { page: '/home' } };
  await run(client, count);
  assert.deepEqual((await run(client, count)).outputs, { visits: 2 });
});
