import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type, { type TSchema } from 'typebox';
import { Compile } from 'typebox/schema';
import { problemsIn } from './problem.ts';
import { closedObject } from './schema.ts';

const Texts = Type.Array(Type.String(), { maxItems: 1_000_000 });
const Row = closedObject({ id: Type.String(), tags: Texts });
const Table = closedObject({ name: Type.String(), rows: Type.Array(Row, { maxItems: 5_000 }) });

const problems = (schema: TSchema, value: unknown): string[] =>
  problemsIn(Compile(schema), value).map(({ field, problem }) => `${field} ${problem}`);
const rows = (count: number, wrong: Record<number, object> = {}) =>
  Array.from({ length: count }, (_, at) => ({ id: `r${at}`, tags: ['a', 'b'], ...wrong[at] }));

test('what is wrong in a large value is found where it is', () => {
  assert.deepEqual(problems(Table, { name: 't', rows: rows(4_000, { 3217: { id: 7 } }) }), [
    '/rows/3217/id must be string',
  ]);
  assert.deepEqual(problems(Table, { name: 't', rows: rows(4_000, { 3999: { tgas: 1 } }) }), [
    '/rows/3999 has no member "tgas" (did you mean "tags"?)',
  ]);
  assert.deepEqual(problems(Table, { rows: rows(4_000) }), [' must have required properties name']);
  assert.deepEqual(problems(Table, { name: 't', rows: rows(5_001) }), [
    ' has too many items, or one that is not valid',
  ]);
});

test('the items of a list may all be wrong, or all the same', () => {
  const wrong = new Array(300_000).fill(1);
  assert.equal(problems(Texts, wrong)[0], '/0 must be string');
  const Once = Type.Array(Type.String(), { uniqueItems: true, maxItems: 64 });
  // Quadratic if all of it were looked at: it would take minutes
  assert.match(problems(Once, new Array(300_000).fill('a')).join(), /must not have|unique|duplicate/);
});

test('many unknown members are told of in a few words', () => {
  const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`k${at}`, at]));
  const [first = ''] = problems(Row, { ...many, id: 'r', tags: [] });
  assert.match(first, /^ has no member "k0", "k1", [^{]{1,80}$/);
});
