import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RecordKind } from '@gantry/resources';
import { Features, feature, type Order } from './feature.ts';

const kind = (name: string): RecordKind<object> => ({ kind: name, idPrefix: name });
const put = (name: string) =>
  ({ kind: 'putEntry', entry: { kind: name, tenant: 't', id: 'a' }, expectedVersion: null }) as never;

/** Notes what happens to it. */
function noted(heard: string[], name: string) {
  const note = (what: string) => async () => void heard.push(`${what} ${name}`);
  return {
    name,
    start: note('start'),
    stop: note('stop'),
    sweep: async () => 1,
    committed: (group: readonly unknown[]) => void heard.push(`${name} ${group.length}`),
  };
}

const listOf = (heard: string[]) => {
  const first = feature({ name: 'first', kinds: [kind('a'), 'b'], open: () => noted(heard, 'first') });
  const second = feature({
    name: 'second',
    kinds: [kind('c')],
    open: ({ first: before }: { readonly first: { readonly name: string } }) =>
      noted(heard, `${before.name}+second`),
  });
  return [first, second] as const;
};

test('features open with what was opened before them, start in order and stop in reverse', async () => {
  const heard: string[] = [];
  const features = new Features(listOf(heard));
  const services = await features.open({});
  assert.equal(services.second.name, 'first+second');
  await Promise.all([features.start(), features.start()]);
  await features.stop();
  assert.deepEqual(heard, ['start first', 'start first+second', 'stop first+second', 'stop first']);
  assert.equal(await features.sweep(), 2);
});

test('a feature hears of commits to its kinds, and of no others', async () => {
  const heard: string[] = [];
  const features = new Features(listOf(heard));
  await features.open({});
  features.committed([put('c'), put('b'), put('other'), { kind: 'deleteContent', hash: 'h' }, put('a')]);
  assert.deepEqual(heard, ['first+second 1', 'first 1', 'first 1']);
});

test('if one does not open, those before it are stopped', async () => {
  const heard: string[] = [];
  const broken = feature({
    name: 'broken',
    kinds: [],
    open: () => {
      throw new Error('no disk');
    },
  });
  await assert.rejects(new Features([...listOf(heard), broken]).open({}), /no disk/);
  assert.deepEqual(heard, ['stop first+second', 'stop first']);
});

test('two features of one kind are named at the start', () => {
  const twice = [feature({ name: 'x', kinds: [kind('a')], open: () => ({}) })];
  assert.throws(() => new Features([...listOf([]), ...twice]), {
    message: 'Records of the kind a belong to first and to x',
  });
});

test('an order in which something is missing does not compile, and says what', () => {
  // The types say it: another text here is an error of the compiler
  type Right = Order<ReturnType<typeof listOf>, object>;
  const right: Right = 'in order';
  type Reversed = ReturnType<typeof listOf> extends readonly [infer A, infer B] ? readonly [B, A] : never;
  const wrong: Order<Reversed, object> = 'second needs first, which is not opened before it';
  assert.notEqual(right, wrong);
});
