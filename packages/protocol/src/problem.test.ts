import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type, { type TSchema } from 'typebox';
import { Compile } from 'typebox/schema';
import { problemsIn } from './problem.ts';

const literals = (...values: readonly (string | number)[]) =>
  Type.Union(values.map((value) => Type.Literal(value)));

const problems = (schema: TSchema, value: unknown): string[] =>
  problemsIn(Compile(schema), value).map(({ field, problem }) => `${field} ${problem}`);

test('a choice among constants is told once, with all of them', () => {
  const Method = Type.Object({ method: literals('GET', 'PUT') });
  for (const method of ['DELETE', 4, null, {}])
    assert.deepEqual(problems(Method, { method }), ['/method must be one of GET, PUT']);
  const Columns = Type.Record(Type.String(), literals('string', 'number'));
  assert.deepEqual(problems(Columns, { born: 'date', died: 'date' }), [
    '/born must be one of string, number',
    '/died must be one of string, number',
  ]);
  assert.deepEqual(problems(Type.Enum(['a', 'b']), 'c'), [' must be one of a, b']);
  assert.deepEqual(problems(Type.Literal(true), false), [' must be true']);
});

test('also a long one, a nested one, and one with null', () => {
  const long = Array.from({ length: 20 }, (_, n) => `v${n}`);
  assert.deepEqual(problems(literals(...long), 'x'), [` must be one of ${long.join(', ')}`]);
  const nested = Type.Union([Type.Null(), Type.Union([literals(1, 2), Type.Literal('none')])]);
  assert.deepEqual(problems(Type.Array(nested), [3]), ['/0 must be one of null, 1, 2, none']);
});

test('constants that tell objects apart are one choice; what else is wrong is told as it is', () => {
  const Shape = Type.Union([
    Type.Object({ kind: Type.Literal('circle'), r: Type.Number() }),
    Type.Object({ kind: Type.Literal('square'), a: Type.Number() }),
  ]);
  assert.deepEqual(problems(Shape, { kind: 'line', r: 1, a: 1 }), ['/kind must be one of circle, square']);
  assert.deepEqual(problems(Type.Array(Shape), [{ kind: 'square', a: 'x' }]), ['/0/a must be number']);
  assert.deepEqual(problems(Type.Object({ at: Shape }), { at: 1 }), ['/at must be object']);
  const mixed = Type.Union([Type.Literal('all'), Type.Integer({ minimum: 3 })]);
  assert.ok(problems(mixed, 2).includes(' must be >= 3'));
  assert.deepEqual(problems(Type.Object({ n: Type.String() }), { n: 1 }), ['/n must be string']);
});

test('a name that is unknown where another is missing was probably meant for it', () => {
  const Order = Type.Object({ amount: Type.Number(), note: Type.Optional(Type.String()) });
  assert.deepEqual(problems(Type.Object({ order: Order }), { order: { amonut: 1 } }), [
    '/order must have required properties amount ("amonut" is unknown: did you mean "amount"?)',
  ]);
  assert.deepEqual(problems(Order, { note: 'x' }), [' must have required properties amount']);
});
