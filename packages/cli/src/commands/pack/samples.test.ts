import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { readManifest, requiresOf, writeArchive } from '@gantry/packs';
import { publicValidator, skipWithoutPublicData } from '../../../../protocol/src/testing/public-schemas.ts';
import { checkPack } from './check.ts';
import { isError } from './fault.ts';
import { buildSamples, SAMPLES, temporaryFolder } from './testing/pack-folder.ts';

const NAMES = readdirSync(SAMPLES, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

let samples: string;
before(async () => {
  samples = await mkdtemp(path.join(tmpdir(), 'gantry-samples-'));
  await buildSamples(samples);
});
after(() => rm(samples, { recursive: true, force: true }));

const manifestText = (name: string): Promise<string> =>
  readFile(path.join(samples, name, 'pack.json'), 'utf8');

test('there is a sample of each way to make a pack', async () => {
  const languages = new Set<string>();
  for (const name of NAMES) {
    const reading = readManifest(await manifestText(name));
    assert.equal(reading.kind, 'manifest');
    const { manifest } = reading;
    languages.add(manifest.kind === 'node' ? manifest.runtime.language : manifest.kind);
    assert.equal(manifest.name, `vendor.gantry.${name}`);
  }
  assert.deepEqual([...languages].sort(), ['javascript', 'remote', 'wasm', 'workflow-chain']);
});

for (const name of NAMES) {
  test(`${name} passes check`, async () => {
    const { manifest, faults } = await checkPack(path.join(samples, name));
    assert.ok(manifest);
    assert.deepEqual(faults.filter(isError), []);
    // The misbehaving one asks for nothing and takes what it can: that is its job.
    if (name !== 'misbehaving') assert.deepEqual(faults, []);
    if (name === 'misbehaving') assert.deepEqual(requiresOf(manifest), []);
  });

  test(`${name} gives the same bytes wherever it lies`, async (t) => {
    const elsewhere = path.join(await temporaryFolder(t), 'copy');
    await cp(path.join(samples, name), elsewhere, { recursive: true });
    const [first, second] = [await writeArchive(path.join(samples, name)), await writeArchive(elsewhere)];
    assert.equal(first.integrity, second.integrity);
    assert.ok(first.bytes.equals(second.bytes));
  });
}

test('the manifests are what the public schemas say', { skip: skipWithoutPublicData }, async () => {
  for (const name of NAMES) {
    const manifest = JSON.parse(await manifestText(name));
    const schema = `${manifest.kind === 'workflow-chain' ? 'workflow-chain' : 'node'}-pack-manifest.schema.json`;
    // The public schema closes `runtime` before ABI v1 put `wasm` into it.
    if (manifest.runtime) manifest.runtime.wasm = undefined;
    const plain = JSON.parse(JSON.stringify(manifest));
    assert.deepEqual(publicValidator(schema)?.(plain), [], name);
  }
});

interface NodeModule {
  readonly nodes: Readonly<Record<string, (ctx: object) => Promise<unknown>>>;
}

test('http-check says which failures are worth another try', async (t) => {
  const module: NodeModule = await import(path.join(SAMPLES, 'http-check/index.mjs'));
  const check = module.nodes['vendor.gantry.http-check.status'];
  // Mocked once: of several mocks of one method not all are taken back
  const fetched = t.mock.method(globalThis, 'fetch').mock;
  const answering = (answer: () => Promise<Response>, config = {}) => {
    fetched.mockImplementation(answer);
    return check?.({ inputs: { url: 'https://example.com' }, config });
  };
  const status = (code: number, config = {}) =>
    answering(async () => new Response(null, { status: code }), config);
  const failure = (code: string, message: string, retryable: boolean) => ({
    status: 'error',
    error: { code, message, retryable },
  });
  assert.deepEqual(await status(200), { status: 'success', outputs: { status: 200 } });
  assert.deepEqual(await status(404, { expect: 404 }), { status: 'success', outputs: { status: 404 } });
  assert.deepEqual(await status(404), failure('unexpected_status', 'Got 404, not 200.', false));
  assert.deepEqual(await status(429), failure('unexpected_status', 'Got 429, not 200.', true));
  assert.deepEqual(await status(503), failure('unexpected_status', 'Got 503, not 200.', true));
  const lost = await answering(() => Promise.reject(new TypeError('fetch failed')));
  assert.deepEqual(lost, failure('no_answer', 'There was no answer: fetch failed', true));
  const down = Object.assign(new Error('down'), { code: 'connect_failed' });
  const unreachable = await answering(() => Promise.reject(down));
  assert.deepEqual(unreachable, failure('no_answer', 'There was no answer: down', true));
  const denied = Object.assign(new Error('denied'), { code: 'sandbox_capability_denied' });
  await assert.rejects(answering(() => Promise.reject(denied)) ?? Promise.resolve(), denied);
});
