/** Code of packs under the types that `pack new` puts beside it. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { checkPack } from './check.ts';
import { packIn } from './testing/pack-folder.ts';

const TSC = fileURLToPath(new URL('../../../../../node_modules/typescript/bin/tsc', import.meta.url));
/** Without types of whatever lies around the folder. */
const STRICT =
  '--noEmit --skipDefaultLibCheck --allowJs --checkJs --strict --target es2024 --lib es2024,dom --types'.split(
    ' ',
  );
const FILES = ['greeting/index.mjs', 'greeting/ctx.d.mts', 'storage/index.mjs', 'right.mjs', 'wrong.mjs'];

const RIGHT = [
  'const { inputs, storage, db, queueBus, fs } = ctx;',
  "const { replaced } = await storage.kv.put({ key: inputs.key, value: { list: [1, 'a', null] }, ttlSeconds: 60 });",
  "const { rows, nextCursor } = await storage.table.query({ table: 'a', orderBy: ['-n'], limit: 10 });",
  "const { bytes } = await fs.image.resize({ bytes: new Uint8Array(), width: 10, fit: 'cover' });",
  "await db.sql.execute({ sql: 'delete from a where b = ?', params: [bytes] });",
  "for await (const { payload } of queueBus.streamSubscribe({ topic: 'a' })) ctx.variables.set('last', payload);",
  "const answer = await ctx.suspend({ kind: 'approval', prompt: 'Well?', artifactData: { replaced } });",
  "if (ctx.sideEffects.tryAcquire({ idempotencyKey: 'a' }).state !== 'acquired') ctx.log('warn', 'done before');",
  "const child = await ctx.invokeSubWorkflow({ workflowRef: 'child', inputs: { answer } });",
  "if (nextCursor === null) return ctx.terminate({ code: 'no_more', message: 'No ' + rows.length });",
  "return { status: 'success', outputs: { child: child.outputs } };",
];

const WRONG = [
  'await ctx.storage.kv.put({ key: ctx.inputs.key, valu: 1 });',
  "await ctx.storage.kv.put({ key: 'a', value: 1, ttlSeconds: '60' });",
  "await ctx.storage.kv.atomicIncrment({ key: 'a' });",
  "await ctx.storage.table.createTable({ name: 'a', schema: { id: 'text' } });",
  "const { page } = await ctx.storage.kv.get({ key: 'a' });",
  "ctx.log('loud', 'a');",
  'return ctx.inputs.page;',
];

let root: string;
let problems: { readonly nodenext: readonly string[]; readonly bundler: readonly string[] };

/** What the type checker says, a line for each problem. */
const judge = (...modules: string[]): Promise<string[]> =>
  new Promise((resolve) => {
    execFile(process.execPath, [TSC, ...STRICT, '', ...modules, ...FILES], { cwd: root }, (_, stdout) =>
      resolve(stdout.split('\n').filter((line) => line !== '')),
    );
  });

/** The body begins in the third line. */
const sample = (name: string, body: readonly string[]): Promise<void> => {
  const doc = "/** @param {import('./greeting/ctx.d.mts').Ctx<{ key: string }>} ctx */";
  return writeFile(
    path.join(root, name),
    [doc, 'export async function node(ctx) {', ...body, '}', ''].join('\n'),
  );
};

before(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'gantry-types-'));
  await packIn(root, 'new', 'vendor.acme.greeting');
  await packIn(root, 'new', 'vendor.acme.storage', '--storage');
  await sample('right.mjs', RIGHT);
  await sample('wrong.mjs', WRONG);
  problems = {
    nodenext: await judge('--module', 'nodenext'),
    bundler: await judge('--module', 'esnext', '--moduleResolution', 'bundler'),
  };
});
after(() => rm(root, { recursive: true, force: true }));

test('new packs, and code that does what is typed, are right', () => {
  assert.deepEqual(
    problems.nodenext.filter((line) => !line.startsWith('wrong.mjs') && !line.startsWith(' ')),
    [],
  );
});

test('a wrong name, type, method or answer is an error where it stands', () => {
  const lines = problems.nodenext.flatMap((line) => /^wrong\.mjs\((\d+),/.exec(line)?.[1] ?? []);
  assert.deepEqual(
    lines,
    WRONG.map((_, at) => `${at + 3}`),
    problems.nodenext.join('\n'),
  );
  assert.match(problems.nodenext[0] ?? '', /'valu' does not exist in type/);
});

test('it does not matter how the author resolves modules', () => {
  assert.deepEqual(problems.bundler, problems.nodenext);
});

test('types and example stay with the author', async () => {
  const { files } = await checkPack(path.join(root, 'storage'));
  assert.deepEqual([...files.keys()].sort(), [
    'README.md',
    'index.mjs',
    'pack.json',
    ...['config', 'inputs', 'outputs'].map((of) => `schemas/count-${of}.json`),
  ]);
});
