import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readSource, yamlOf } from './source.ts';

/** What is read, or the position and the message of the refusal. */
async function read(text: string): Promise<unknown> {
  const source = await readSource('flow.yaml', text);
  if (source.kind === 'json') return source.value;
  const { line, column } = source.position;
  return `${line}:${column} ${source.message}`;
}

const bomb = [
  'a0: &a0 [x, x, x, x, x, x, x, x, x]',
  ...Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join(', ')}]`),
].join('\n');
const deep = (open: string, levels = 10_000) => open.repeat(levels);
const nested = (inner: string) => `${'['.repeat(40)}${inner}${']'.repeat(40)}`;

const REFUSED: readonly [string, string, RegExp][] = [
  ['two documents', 'a: 1\n---\nb: 1', /^2:1 A file has one document/],
  ['a tab', 'a:\n\tb: 1', /^2:1 Tabs are not allowed/],
  ['a duplicate key', 'a: 1\nb: 2\na: 3', /^3:1 Duplicate key "a"/],
  ['a merge key', 'a: &a {x: 1}\nb:\n  <<: *a', /^3:3 Merge keys are not read/],
  ['a tag', 'a: !!str 1', /^1:\d+ Tags are not read/],
  ['a tag of an application', 'a: !ruby/object x', /^1:4 Unresolved tag/],
  ['YAML 1.1', '%YAML 1.1\n---\na: yes', /^1:1 Only YAML 1\.2/],
  ['an anchor inside of itself', '&a [*a]', /^1:5 The alias \*a is inside/],
  ['an unknown anchor', 'a: *b', /^1:4 There is no anchor &b/],
  ['endless anchors', bomb, /^7:\d+ With its aliases expanded/],
  [
    'a hundred and one aliases',
    `a: &a 1\nb:\n${'- *a\n'.repeat(101)}`,
    /^103:3 A file has at most 100 aliases/,
  ],
  ['aliases that nest', `a: &a ${nested('')}\nb: ${nested('*a')}`, /^2:\d+ Nested deeper than 64/],
  ['a list in lists', deep('- '), /^1:\d+ Nested deeper than 64/],
  ['a list in brackets', `${deep('[')}${deep(']')}`, /^1:\d+ Nested deeper than 64/],
  ['maps in braces that never close', deep('{'), /^1:\d+ Nested deeper than 64/],
  ['maps in maps', Array.from({ length: 66 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'), /^66:66 Nested/],
  ['a key that is a number', '1: a', /^1:1 A key must be text/],
  ['a key that is a prototype', 'a:\n  __proto__: 1', /^2:3 The key __proto__/],
  ['a number that JSON lacks', 'a: .inf', /^1:4 JSON has no such number/],
  [
    'an integer that is rounded',
    'a: 12345678901234567890',
    /^1:4 The integer 12345678901234567890 is too large/,
  ],
  ['a NUL', 'a: "\\0"', /^1:4 Text with a NUL/],
  ['what is not closed', 'a: [1', /^1:\d+ Flow sequence/],
  ['too much', `a: ${'x'.repeat(1024 * 1024)}`, /^1:1 The YAML has more than 1048576 characters/],
];
for (const [what, text, refusal] of REFUSED)
  test(`YAML: ${what} is refused with its place`, async () =>
    assert.match(String(await read(text)), refusal));

test('YAML: words and dates are text, numbers are numbers, and an alias repeats a value', async () => {
  const text = 'on: yes\nday: 2001-01-01\nhex: 0x1F\nnone:\n"<<": &a {b: [~, true]}\nagain: *a\r\n';
  const a = { b: [null, true] };
  assert.deepEqual(await read(text), {
    on: 'yes',
    day: '2001-01-01',
    hex: 31,
    none: null,
    '<<': a,
    again: a,
  });
});

test('YAML: a pointer leads to the place of its member, or of what should have it', async () => {
  const source = await readSource('flow.yml', 'nodes:\n  - id: a\n    config:\n      workflowId: b\n');
  assert.ok(source.kind === 'json');
  assert.deepEqual(source.positionOf('/nodes/0/config/workflowId'), { line: 4, column: 7 });
  assert.deepEqual(source.positionOf('/nodes/0/config/inputMapping/x'), { line: 3, column: 5 });
  assert.deepEqual(source.positionOf('/edges/0'), { line: 1, column: 1 });
});

test('JSON: an integer that would be rounded is refused with its place', async () => {
  const source = await readSource('flow.json', '{\n  "a": 12345678901234567890\n}');
  assert.deepEqual(source, {
    kind: 'broken',
    message: 'The integer 12345678901234567890 is too large: write it as text.',
    position: { line: 2, column: 8 },
  });
});

test('whatever is written as YAML is read back', async () => {
  const value = fc.jsonValue({ maxDepth: 5 }).filter((each) => !JSON.stringify(each).includes('__proto__'));
  await fc.assert(
    fc.asyncProperty(value, async (given) => {
      const kept = JSON.parse(JSON.stringify(given).replaceAll('\\u0000', ''));
      assert.deepEqual(await read(await yamlOf(kept)), kept);
    }),
    { numRuns: 300 },
  );
});
