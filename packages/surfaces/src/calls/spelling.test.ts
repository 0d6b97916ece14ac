/** What a spelling does when a call has the members of the contract too, and what it refuses. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TObject, TSchema } from 'typebox';
import { nosqlSurface } from '../capabilities/nosql/surface.ts';
import { sqlSurface } from '../capabilities/sql/surface.ts';
import { vectorSurface } from '../capabilities/vector/surface.ts';
import { embeddedCallGate } from '../testing/embedded-call-gate.ts';
import { nodeOf } from '../testing/test-call-gate.ts';
import { SPELLINGS } from './catalogue.ts';
import type { DataObject } from './data.ts';
import { decodeBase64, either, fromBase64, rename, through } from './spelling.ts';

const facts = { input: {}, now: 0 };
const adapt = (step: ReturnType<typeof rename>, value: DataObject) => step.adapt(value, facts);

describe('steps', () => {
  test('what the contract calls it stands, whatever a pack says beside it', () => {
    const step = rename({ expect: 'expectedValue' });
    assert.deepEqual(adapt(step, { expect: 1, expectedValue: 2 }), { expectedValue: 2 });
    assert.deepEqual(adapt(step, { expectedValue: 2, expect: 1 }), { expectedValue: 2 });
    assert.deepEqual(adapt(step, { expect: 1 }), { expectedValue: 1 });
    assert.deepEqual(adapt(step, { constructor: 1 }), { constructor: 1 });
    const bytes = new Uint8Array([1]);
    assert.deepEqual(adapt(fromBase64('text', 'bytes'), { text: 'aGk=', bytes }), { bytes });
  });

  test('of members that exclude each other one is taken', () => {
    const step = either('id', 'filter');
    for (const value of [{}, { id: 'a' }, { filter: {} }]) assert.equal(adapt(step, value), value);
    assert.throws(() => adapt(step, { id: 'a', filter: {} }), {
      code: 'validation_error',
      message: /both `id` and `filter`/,
    });
  });

  test('base64 is what it says, or is refused by the name of its member', () => {
    for (const size of [0, 1, 2, 3, 100]) {
      const bytes = new Uint8Array(size).map((_, index) => index * 37);
      assert.deepEqual(decodeBase64(Buffer.from(bytes).toString('base64'), 'm'), bytes);
    }
    const odd = [
      '!!!',
      'aGk',
      'aGk=\n',
      ' aGk=',
      'aGk==',
      'aGl=',
      'a-_b',
      'data:text/plain;base64,aGk=',
      'aGk=aGk=',
    ];
    for (const text of odd)
      assert.throws(
        () => adapt(fromBase64('contentBase64', 'bytes'), { contentBase64: text }),
        { code: 'validation_error', message: /`contentBase64` is not base64/ },
        text,
      );
  });
});

/** Contract methods of a surface whose input has the member. */
const methodsWith = (
  member: string,
  surface: { literal: { path: string; methods: Record<string, { input: TSchema }> } },
) =>
  Object.entries(surface.literal.methods)
    .filter(([, { input }]) => member in (input as TObject).properties)
    .map(([name]) => `${surface.literal.path}.${name}`);

test('packs may name the data source and the namespace in every method that has one', () => {
  const cases = [
    ...[sqlSurface, nosqlSurface].flatMap((surface) =>
      methodsWith('datasourceId', surface).map((path) => [path, 'datasource', 'datasourceId'] as const),
    ),
    ...methodsWith('collection', vectorSurface).map((path) => [path, 'namespace', 'collection'] as const),
  ];
  assert.ok(cases.length >= 15);
  for (const [path, from, to] of cases) {
    const forms = SPELLINGS.filter((each) => each.path === path);
    assert.ok(
      forms.some(({ when }) => when === undefined),
      `${path} is spelled for every call`,
    );
    for (const { takes, to: method } of forms)
      if (method !== 'sql.queryTables') assert.equal(through(takes, { [from]: 'x' }, facts)[to], 'x', path);
  }
});

test('messages are settled by the token that they came with, also beside their id', async () => {
  const world = await embeddedCallGate();
  const call = nodeOf(world);
  const ways: readonly [string, DataObject][] = [
    ['ack', {}],
    ['nack', { requeue: false }],
    ['deadLetter', { reason: 'r' }],
  ];
  for (const [way, more] of ways) {
    await call('queueBus.publish', { topic: way, payload: 1 });
    const { messages } = (await call('queueBus.consume', { topic: way, maxMessages: 1 })) as {
      messages: [{ messageId: string; deliveryToken: string }];
    };
    const [{ messageId, deliveryToken }] = messages;
    assert.notEqual(messageId, deliveryToken);
    const settled = await call(`queueBus.${way}`, { messageId, deliveryToken, ...more });
    assert.equal((settled as DataObject).ok, true, way);
  }
});

test('a refusal names what was called', async () => {
  const call = nodeOf(await embeddedCallGate());
  for (const [path, input] of [
    ['db.nosql.find', { collection: 5 }],
    ['db.nosql.query', { collection: 5 }],
    ['storage.kv.cas', { key: '' }],
    ['storage.table.delete', { filter: {}, table: 1 }],
  ] as const) {
    const refused = { code: 'validation_error', message: new RegExp(`^ctx\\.${path}:`) };
    await assert.rejects(call(path, input), refused);
  }
});
