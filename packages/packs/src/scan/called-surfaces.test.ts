import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readManifest } from '../manifest/read-manifest.ts';
import { calledSurfaces, surfaceAsks } from './called-surfaces.ts';

const TYPE = 'vendor.acme.a';
type Manifest = Parameters<typeof surfaceAsks>[0];

function pack(language: string, peerDependencies: Record<string, string> = {}): Manifest {
  const nodes = [{ typeId: TYPE, version: '1.0.0', category: 'data', role: 'pure' }];
  const runtime = { language, entry: 'index' };
  const engines = { openwop: '>=1.0.0' };
  const about = { name: 'vendor.acme.tools', version: '1.0.0', engines, nodes, runtime, peerDependencies };
  const reading = readManifest(Buffer.from(JSON.stringify(about)));
  assert.ok(reading.kind === 'manifest', JSON.stringify(reading));
  return reading.manifest;
}

const scanned = (source: string, file = 'index.mjs') => {
  const language = file.endsWith('.py') ? 'python' : 'javascript';
  const { called, unknown } = calledSurfaces(pack(language), new Map([[file, Buffer.from(source)]]));
  return { called: [...called.keys()].sort(), unknown: [...unknown.keys()] };
};
const node = (body: string, before = '') =>
  scanned(`${before}\nexport const nodes = { '${TYPE}': async (c) => { ${body} } };`);

for (const [name, body, before] of [
  ['a member', 'c.storage.kv.get({})'],
  ['optional members', 'c?.storage?.kv?.get?.({})'],
  ['text as a key', "c['storage'][`kv`].get({})"],
  ['an alias', 'const d = c; const s = d.storage; s.kv.get({})'],
  ['a pattern', 'const { storage: { kv } } = c; kv.get({})'],
  ['what is left of a pattern', 'const { inputs, ...rest } = c; rest.storage.kv.get({})'],
  ['a helper', 'h(c)', 'function h(x) { return x.storage.kv; }'],
  ['a helper with a name', "h(c, 'kv')", 'const h = (x, n) => x.storage[n];'],
  ['what a helper gives back', 'h(c).kv.get({})', 'const h = (x) => x.storage;'],
  ['a copy', 'h({ ...c, config: {} })', 'const h = ({ storage }) => storage.kv;'],
  ['a member of an object', 'const o = { ctx: c }; h(o)', 'const h = (o) => o.ctx.storage.kv;'],
  [
    'a class',
    'new A(c).run()',
    'class A { constructor(x) { this.x = x; } run() { return this.x.storage.kv; } }',
  ],
  ['a list of names', "for (const n of ['kv']) c.storage[n].get({})"],
  ['an array', '[c].map((x) => x.storage.kv)'],
] as const)
  test(`found: ${name}`, () => {
    assert.deepEqual(node(body, before), { called: ['kvStorage'], unknown: [] });
  });

test('found through a wrapper of the function', () => {
  const source = `const wrap = (fn) => async (x) => fn(x);
    const work = (ctx) => ctx.db.sql.query({});
    export default { '${TYPE}': wrap(work) };`;
  assert.deepEqual(scanned(source), { called: ['sql'], unknown: [] });
});

for (const [name, body, what] of [
  ['a computed member', 'c[c.inputs.x]', /^ctx\[…\] in index\.mjs:2$/],
  ['a computed surface', 'c.storage[c.inputs.x]', /^ctx\.storage\[…\]/],
  ['code from elsewhere', 'Reflect.get(c, c.inputs.x)', /handed to code/],
  ['eval', "eval('c')", /^eval/],
] as const)
  test(`cannot be determined: ${name}`, () => {
    const { called, unknown } = node(body);
    assert.deepEqual(called, []);
    assert.match(unknown[0] ?? '', what);
  });

test('what is not ctx is left alone', () => {
  const body = 'const o = {}; const list = [1]; let i = 0; o[list[i]] = list[i]; return o.storage?.kv;';
  assert.deepEqual(node(body), { called: [], unknown: [] });
});

test('code that cannot be parsed, is too large or too deep is said to be so', () => {
  assert.match(scanned('export const = ;').unknown.join(), /cannot be parsed/);
  assert.match(scanned(`//${'x'.repeat(600_000)}`).unknown.join(), /larger than/);
  assert.ok(scanned(`const a = ${'['.repeat(20_000)}${']'.repeat(20_000)};`).unknown.length > 0);
  assert.match(
    scanned('export const nodes = {};').unknown.join(),
    /function of vendor\.acme\.a was not found/,
  );
});

test('Python is searched for names, and that is said', () => {
  const { called, unknown } = scanned(
    'def a(ctx):\n  ctx.storage.kv.get({})\n  ctx.queue_bus.publish({})\n',
    'a.py',
  );
  assert.deepEqual(called, ['kvStorage', 'queueBus']);
  assert.match(unknown.join(), /Python/);
});

test('a manifest that names a model is asked for what else it calls', () => {
  const code = `export const nodes = { '${TYPE}': (c) => c.callAI({}).then(() => c.db.vector.query({})) };`;
  const files = new Map([['index.mjs', Buffer.from(code)]]);
  const { asks } = surfaceAsks(pack('javascript', { aiProviders: 'supported' }), files);
  assert.deepEqual(asks, ['host.vectorStore']);
});

test('a manifest that names surfaces is asked for none', () => {
  const files = new Map([['index.mjs', Buffer.from('')]]);
  assert.deepEqual(surfaceAsks(pack('javascript', { 'host.kvStorage': 'required' }), files), {
    asks: [],
    unknown: [],
  });
});
