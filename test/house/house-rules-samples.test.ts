/** Each rule against small bad samples: a rule that cannot fail holds nothing. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkBackends } from './backends.ts';
import type { Files } from './files.ts';
import { checkImports, checkManifests, type House } from './imports.ts';
import { checkLength, tooLong } from './length.ts';
import { checkInputs, checkPurity } from './purity.ts';
import { parse } from './syntax.ts';
import { checkArchitecture, checkCatalogue, checkSyntax, checkText } from './wording.ts';
import { checkWrites } from './writes.ts';

const house: House = {
  low: { source: { dep: 'x' }, tests: { 'node:*': 'x', '@gantry/high': 'x' } },
  high: { source: { '@gantry/low': 'x', 'node:*': 'x' }, tests: {} },
};

const filesOf = (sources: Record<string, string>): Files => new Map(Object.entries(sources));
const treesOf = (sources: Record<string, string>) => parse(filesOf(sources));
const lines = (count: number): string => '  a();\n'.repeat(count);

/** Every sample is one line of its own file, so the places say which of them were caught. */
function caught(check: (trees: ReturnType<typeof parse>) => string[], samples: readonly string[]): string[] {
  const sources = Object.fromEntries(
    samples.map((sample, index) => [`packages/low/src/s${index}.ts`, sample]),
  );
  const problems = check(treesOf(sources));
  return samples.filter((_, index) => problems.some((problem) => problem.includes(`/s${index}.ts:`)));
}

describe('imports', () => {
  const check = (trees: ReturnType<typeof parse>) => checkImports(trees, house);

  test('every way of importing is seen', () => {
    const bad = [
      `import { a } from '@gantry/high';`,
      `import type { A } from '@gantry/high';`,
      `import '@gantry/high';`,
      `export * from '@gantry/high';`,
      `const a = import('@gantry/high');`,
      `type A = import('@gantry/high').A;`,
      `const a = require('@gantry/high');`,
      `import fs from 'node:fs';`,
      `import a from 'other/deep';`,
      `import { a } from '../../high/src/a.ts';`,
      'const name = "x"; const a = import(name);',
      `import { a } from './testing/a.ts';`,
      `import { a } from './store-contract.ts';`,
    ];
    assert.deepEqual(caught(check, bad), bad);
  });

  test('what is listed passes', () => {
    const good = [`import a from 'dep';`, `import a from 'dep/deep';`, `import { a } from './a.ts';`];
    assert.deepEqual(caught(check, good), []);
  });

  test('tests have a wider list of their own', () => {
    const source = `import 'node:test'; import '@gantry/high'; import 'other';`;
    const problems = check(
      treesOf({ 'packages/low/src/a.test.ts': source, 'packages/low/src/testing/b.ts': source }),
    );
    assert.deepEqual(problems, [
      'packages/low/src/a.test.ts:1: tests of packages/low may not import other',
      'packages/low/src/testing/b.ts:1: tests of packages/low may not import other',
    ]);
  });

  test('tests borrow test helpers, and nothing else, from packages they may import', () => {
    const from = (specifier: string) => ({ 'packages/low/src/a.test.ts': `import '${specifier}';` });
    assert.deepEqual(check(treesOf(from('../../high/src/testing/a.ts'))), []);
    assert.deepEqual(check(treesOf(from('../../../scripts/a.mjs'))), []);
    assert.match(
      check(treesOf({ 'packages/low/src/a.ts': `import '../../../scripts/a.mjs';` })).join(),
      /reaches out/,
    );
    assert.match(check(treesOf(from('../../high/src/a.ts'))).join(), /reaches out/);
    assert.match(check(treesOf(from('../../other/src/testing/a.ts'))).join(), /reaches out/);
  });

  test('a package without rules fails', () => {
    const problems = check(treesOf({ 'packages/new/src/a.ts': `import './b.ts';` }));
    assert.match(problems.join(), /packages\/new has no entry/);
  });

  test('backends of surfaces share nothing that one of them owns', () => {
    const inFolder = (folder: string, source: string) =>
      checkBackends(treesOf({ [`packages/surfaces/src/${folder}/a.ts`]: source }));
    assert.match(
      inFolder('postgres', `import '../sqlite/b.ts';`).join(),
      /postgres imports from the backend sqlite/,
    );
    assert.match(inFolder('s3', `const b = import('../postgres/b.ts');`).join(), /s3 imports/);
    assert.match(inFolder('sqlite', `import '../s3/b.ts';`).join(), /sqlite imports/);
    assert.deepEqual(inFolder('postgres', `import './b.ts'; import '../text.ts'; import '../kv/b.ts';`), []);
    assert.deepEqual(inFolder('capabilities', `import '../sqlite/b.ts';`), []);
  });

  test('manifests and imports agree', () => {
    const manifests = new Map([
      ['low', { dependencies: { other: '1.0.0' }, devDependencies: { another: '1.0.0' } }],
    ]);
    const trees = treesOf({ 'packages/low/src/a.ts': `import 'dep';` });
    assert.deepEqual(checkManifests(manifests, trees, house), [
      'packages/low/package.json: dependency other is not on the allow-list',
      'packages/low/package.json: devDependency another is not on the allow-list',
      'packages/low/src/a.ts:1: dep is missing in the dependencies of packages/low',
    ]);
  });
});

describe('the pure core', () => {
  test('time, chance, waiting and the world are caught', () => {
    const bad = [
      'Date.now();',
      'new Date();',
      'new Date;',
      'Date();',
      'Math.random();',
      'performance.now();',
      'process.env;',
      'setTimeout(f, 1);',
      'setInterval(f, 1);',
      'setImmediate(f);',
      'queueMicrotask(f);',
      'async function f() {}',
      'const f = async () => 1;',
      'await f();',
      'for await (const a of b) a;',
      'crypto.randomUUID();',
      'fetch(a);',
      'const { log } = console;',
      'new RegExp(a);',
      'RegExp(a);',
      'globalThis.x;',
      'const o = { fetch };',
      'a.localeCompare(b);',
    ];
    assert.deepEqual(caught(checkPurity, bad), bad);
  });

  test('names, types, strings and comments are not', () => {
    const good = [
      'new Date(0);',
      'type A = { process: string; fetch(): Promise<string> };',
      'const o = { console: 1 }; o.console;',
      `const s = 'Date.now()'; // Math.random()`,
      'const re = /a/; re.test(s);',
    ];
    assert.deepEqual(caught(checkPurity, good), []);
  });
});

describe('inputs', () => {
  test('clocks, timers and dice are seen, however they are reached', () => {
    const bad = [
      'Date.now();',
      'const now = Date.now;',
      'performance.now();',
      'setTimeout(f, 1);',
      'const later = { run: setImmediate };',
      `import { setTimeout as sleep } from 'node:timers/promises';`,
      'Math.random();',
      'randomUUID();',
    ];
    assert.deepEqual(caught(checkInputs, bad), bad);
  });

  test('inputs by the same names are not', () => {
    const good = [
      'host.clock.after(1, f);',
      'options.now();',
      'new Date(0);',
      'const o = { setTimeout: 1 };',
    ];
    assert.deepEqual(caught(checkInputs, good), []);
  });
});

describe('length', () => {
  const measure = (source: string, file = 'packages/low/src/a.ts') =>
    Object.fromEntries(tooLong(filesOf({ [file]: source }), treesOf({ [file]: source })));

  test('a limit is what still fits', () => {
    assert.deepEqual(measure(`function f() {\n${lines(68)}}\n`), {});
    assert.deepEqual(measure(`function f() {\n${lines(69)}}\n`), { 'packages/low/src/a.ts#f': 71 });
    assert.deepEqual(measure(lines(350)), {});
    assert.deepEqual(measure(lines(351)), { 'packages/low/src/a.ts': 351 });
  });

  test('methods, arrows and callbacks count', () => {
    const body = `{\n${lines(69)}}`;
    assert.deepEqual(Object.keys(measure(`class C { m() ${body} }`)), ['packages/low/src/a.ts#m']);
    assert.deepEqual(Object.keys(measure(`const f = () => ${body};`)), ['packages/low/src/a.ts#f']);
    assert.deepEqual(Object.keys(measure(`run(() => ${body});`)).length, 1);
    assert.deepEqual(measure(`/*\n${lines(90)}*/ const s = \`{\n${lines(90)}\`;`), {});
  });

  test('a suite is a list of tests, each measured by itself', () => {
    const short = `test('a', () => {\n${lines(40)}});\n`;
    assert.deepEqual(measure(`function contract() { describe('d', () => {\n${short}${short}}); }`), {});
    const long = `describe('d', () => {\ntest('a', () => {\n${lines(70)}});\n});`;
    assert.deepEqual(measure(long), { "packages/low/src/a.ts#'a'": 72 });
  });

  test('the ratchet only shrinks', () => {
    const entry = (count: number, reason = 'data') => ({ a: { lines: count, reason } });
    assert.deepEqual(checkLength(new Map([['a', 400]]), entry(400)), []);
    assert.match(checkLength(new Map([['a', 400]]), {}).join(), /split it/);
    assert.match(checkLength(new Map([['a', 401]]), entry(400)).join(), /grew/);
    assert.match(checkLength(new Map([['a', 399]]), entry(400)).join(), /lower its ratchet/);
    assert.match(checkLength(new Map(), entry(400)).join(), /remove its ratchet/);
    assert.match(checkLength(new Map([['a', 400]]), entry(400, ' ')).join(), /no reason/);
  });
});

describe('wording', () => {
  const textProblems = (file: string, text: string) => checkText(filesOf({ [file]: text }));

  test('leftovers, silenced checkers and machine paths are caught', () => {
    const bad = [
      '// TODO later',
      '// @ts-ignore',
      '// biome-ignore lint: x',
      `const p = '/work/x';`,
      'cd /root/x',
    ];
    for (const line of bad) assert.equal(textProblems('a.ts', `ok\n${line}`).length, 1, line);
    for (const line of ['https://x.dev/work/x', './work/x', 'todo lists', 'packages/work/x'])
      assert.deepEqual(textProblems('a.ts', line), [], line);
  });

  test('download addresses stay out', () => {
    assert.match(textProblems('package-lock.json', '"resolved": "https://a.b/c.tgz"').join(), /address/);
    assert.deepEqual(textProblems('package-lock.json', '"resolved": "packages/cli"'), []);
    assert.match(textProblems('.npmrc', 'registry=https://a.b').join(), /registry/);
    assert.match(textProblems('README.md', 'from https://registry.npmjs.org/x').join(), /registry/);
  });

  test('another spelling of the default workspace is caught, in shipped code', () => {
    const bad = [
      `{ workspace: '' }`,
      `const { workspace = '' } = owner;`,
      `owner.workspace ?? ''`,
      'workspace = null,',
    ];
    for (const line of bad) {
      assert.match(textProblems('packages/host/src/a.ts', line).join(), /another spelling/, line);
      assert.deepEqual(textProblems('packages/host/src/a.test.ts', line), []);
    }
    assert.deepEqual(textProblems('packages/host/src/a.ts', `const key = { workspace: 'default' };`), []);
  });

  test('any, double casts, skips, prints and ends of the process are caught', () => {
    const bad = [
      'const a: any = 1;',
      'const a = b as unknown as C;',
      `test.skip('a', () => {});`,
      `describe.only('a', () => {});`,
      't.skip();',
      'console.log(1);',
      'process.exitCode = 1;',
      'process.exit(1);',
      'const a = { ...{ b: 1 }, c };',
      'const a = [...[1], b];',
    ];
    assert.deepEqual(caught(checkSyntax, bad), bad);
    assert.deepEqual(
      caught(checkSyntax, [`t.skip('no server');`, `const s = 'any'; // any`, 'as<C>(b);']),
      [],
    );
    assert.deepEqual(checkSyntax(treesOf({ 'packages/cli/src/a.ts': 'console.log(1);' })), []);
    assert.deepEqual(checkSyntax(treesOf({ 'packages/low/src/main.ts': 'process.exit(1);' })), []);
  });

  test('words outside of the catalogue are caught', () => {
    const check = (line: string) => checkCatalogue(treesOf({ 'packages/low/src/a.tsx': line }));
    for (const line of ['const a = <p>Hello</p>;', 'const a = <p title="Hello" />;'])
      assert.equal(check(line).length, 1, line);
    for (const line of ['const a = <p className="x">{words.hello}</p>;', 'const a = <p> · </p>;'])
      assert.deepEqual(check(line), [], line);
  });

  test('a package the page does not name is caught', () => {
    assert.deepEqual(checkArchitecture(['low', 'high'], 'see `packages/low`'), [
      'packages/high: not mentioned in ARCHITECTURE.md',
    ]);
  });
});

test('writes are built where the rule says, and an exception that is not needed is named', () => {
  const check = (trees: ReturnType<typeof parse>) => checkWrites(trees, {});
  const bad = [`const a = { kind: 'putEntry', entry };`, `const a = [{ kind: 'adjust' as const, key }];`];
  const good = [
    `type A = { kind: 'putEntry' };`,
    `if (write.kind === 'putEntry') a();`,
    `f({ kind: 'node' });`,
  ];
  assert.deepEqual(caught(check, [...bad, ...good]), bad);
  const tree = treesOf({ 'packages/low/src/a.ts': bad[0]! });
  assert.deepEqual(checkWrites(tree, { 'packages/low/': 'x', 'packages/high/': 'x' }).length, 1);
});
