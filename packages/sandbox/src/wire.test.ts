import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  BYTES_MAX,
  costOfPieces,
  DEPTH_MAX,
  Decoder,
  encode,
  HEAD_BYTES_MAX,
  measure,
  TooLarge,
  VALUES_MAX,
} from './runner/wire.mjs';

const decodeAll = (chunks: readonly Uint8Array[]): unknown[] => {
  const decoder = new Decoder();
  return chunks.flatMap((chunk) => decoder.push(chunk).map(({ message }) => message));
};

const leaf = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.uint8Array({ maxLength: 40 }),
);
const key = fc
  .oneof(fc.string(), fc.constantFrom('$bytes', '$$bytes', '$', 'constructor'))
  .filter((k) => k !== '__proto__');
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.dictionary(key, tie('tree'), { noNullPrototype: true }),
  ),
}));

test('what goes in comes out, however it is cut', () => {
  fc.assert(
    fc.property(
      fc.array(tree, { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 64 }),
      (values, size) => {
        const bytes = Buffer.concat(values.flatMap((value) => encode({ value })));
        const chunks = Array.from({ length: Math.ceil(bytes.byteLength / size) }, (_, index) =>
          Uint8Array.prototype.slice.call(bytes, index * size, (index + 1) * size),
        );
        assert.deepEqual(
          decodeAll(chunks),
          values.map((value) => ({ value })),
        );
      },
    ),
  );
});

test('no bytes crash the decoder other than by an error', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 64 })), (chunks) => {
      try {
        decodeAll(chunks);
      } catch (error) {
        assert.ok(error instanceof Error);
      }
    }),
  );
});

const lengthsOf = (size: number, text: number): Buffer => {
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32BE(size, 0);
  lengths.writeUInt32BE(text, 4);
  return lengths;
};

test('JSON and bytes have a maximum each, which is checked before anything is collected', () => {
  const decoder = (size: number, text: number): Decoder => {
    const begun = new Decoder();
    begun.push(lengthsOf(size, text));
    return begun;
  };
  for (const [size, text] of [
    [HEAD_BYTES_MAX + 1, HEAD_BYTES_MAX + 1],
    [HEAD_BYTES_MAX + BYTES_MAX, HEAD_BYTES_MAX + 1],
    [BYTES_MAX + 3, 2],
    [2 ** 32 - 1, 2],
    [4, 5],
    [4, 0],
  ] as const)
    assert.throws(() => decoder(size, text), /not possible/, `${size} ${text}`);
  assert.equal(decoder(HEAD_BYTES_MAX + BYTES_MAX, HEAD_BYTES_MAX).size, HEAD_BYTES_MAX + BYTES_MAX);
});

test('what is too large is refused by its own error, and the largest passes', () => {
  assert.throws(() => encode({ text: 'x'.repeat(HEAD_BYTES_MAX) }), TooLarge);
  assert.throws(() => encode([new Uint8Array(BYTES_MAX), new Uint8Array(1)]), TooLarge);
  assert.throws(() => encode(Array.from({ length: 65_537 }, () => new Uint8Array())), TooLarge);
  const text = 'x'.repeat(HEAD_BYTES_MAX - 100);
  const [message] = decodeAll(encode({ bytes: new Uint8Array(BYTES_MAX).fill(7), text }));
  const { bytes, text: same } = message as { bytes: Uint8Array; text: string };
  assert.deepEqual(
    [bytes.length, bytes.findIndex((byte) => byte !== 7), same === text],
    [BYTES_MAX, -1, true],
  );
});

test('bytes are sent as they lie, and every part arrives in memory of its own', () => {
  const bytes = new Uint8Array([1, 2, 3, 4]).subarray(1, 3);
  const pieces = encode({ a: bytes, b: new Uint8Array([9]) });
  assert.equal(pieces[1]?.buffer, bytes.buffer);
  const [message] = decodeAll([Buffer.concat(pieces)]);
  const { a, b } = message as { a: Uint8Array; b: Uint8Array };
  assert.deepEqual([a, b], [new Uint8Array([2, 3]), new Uint8Array([9])]);
  assert.deepEqual([a.buffer.byteLength, b.buffer.byteLength], [2, 1]);
});

const framed = (text: string): Uint8Array => {
  const body = Buffer.from(text);
  return Buffer.concat([lengthsOf(body.byteLength, body.byteLength), body]);
};

test('bytes that the frame does not have, and parts that do not fill it, are refused', () => {
  for (const text of [
    '[{"$bytes":7},[]]',
    '[{"$bytes":"length"},[]]',
    '[1,[-1]]',
    '[1,[5]]',
    '[1,{}]',
    `[1,[${'0,'.repeat(65_536)}0]]`,
    '[1]',
    'null',
    '{',
  ])
    assert.throws(() => decodeAll([framed(text)]), Error, text);
});

test('depth is bounded both ways', () => {
  const nested = (depth: number) => `${'['.repeat(depth)}1${']'.repeat(depth)}`;
  assert.throws(() => encode(JSON.parse(nested(DEPTH_MAX + 2))), /too deep/);
  assert.throws(() => decodeAll([framed(`[${nested(DEPTH_MAX + 2)},[]]`)]), /too deep/);
  assert.deepEqual(decodeAll(encode(JSON.parse(nested(DEPTH_MAX + 1)))), [JSON.parse(nested(DEPTH_MAX + 1))]);
});

/** An element counts once, a member ten times, and what is empty once. */
const countOf = (value: unknown): number => {
  if (typeof value !== 'object' || value === null) return 0;
  const items: unknown[] = Object.values(value);
  const each = Array.isArray(value) ? 1 : 10;
  return items.reduce((sum: number, item) => sum + countOf(item), Math.max(each * items.length, 1));
};

test('values are counted outside of texts, whatever the texts say', () => {
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\\', '"', ',,[{:', '\\",[', 'é\\'));
  const { json } = fc.letrec((tie) => ({
    json: fc.oneof(
      { maxDepth: 4 },
      fc.oneof(text, fc.double({ noNaN: true }), fc.boolean(), fc.constant(null)),
      fc.array(tie('json'), { maxLength: 5 }),
      fc.dictionary(text, tie('json'), { maxKeys: 5 }),
    ),
  }));
  fc.assert(
    fc.property(json, fc.boolean(), (value, isSpaced) => {
      const told = JSON.stringify(value, null, isSpaced ? 2 : 0);
      assert.equal(measure(Buffer.from(told)).values, countOf(value));
    }),
  );
});

test('values have a maximum, which is checked before they are read', () => {
  const list = (length: number) => `[[${'0,'.repeat(length - 1)}0],[]]`;
  const most = VALUES_MAX - 3;
  assert.deepEqual(decodeAll([framed(list(most))]), [Array(most).fill(0)]);
  assert.throws(() => decodeAll([framed(list(most + 1))]), TooLarge);
  assert.throws(() => decodeAll([framed(`${'['.repeat(100)}${'0,'.repeat(VALUES_MAX)}`)]), TooLarge);
  assert.equal(decodeAll(encode(Array(most).fill(0))).length, 1);
  for (const value of [
    Array(most + 1).fill(0),
    Array(VALUES_MAX / 2).fill({}),
    { a: Array(VALUES_MAX).fill('') },
  ])
    assert.throws(() => encode(value), TooLarge);
  const commas = ',:[{'.repeat(1_000_000);
  assert.deepEqual(decodeAll(encode({ commas })), [{ commas }]);
});

test('both sides know the same cost of a frame, by its bytes or its values', () => {
  const cost = (message: unknown) => {
    const pieces = encode(message);
    const [frame] = new Decoder().push(Buffer.concat(pieces));
    assert.equal(frame?.cost, costOfPieces(pieces));
    return costOfPieces(pieces);
  };
  assert.equal(cost(1), 1024);
  assert.equal(cost({ bytes: new Uint8Array(5_000) }), 8 + '[{"bytes":{"$bytes":0}},[5000]]'.length + 5_000);
  assert.equal(cost(Array(10_000).fill([])), 8 * (2 * 10_000 + 3));
});

test('__proto__ never travels: both sides refuse it', () => {
  const polluting = '{"a":{"__proto__":{"polluted":true}}}';
  assert.throws(() => encode(JSON.parse(polluting)), /member named __proto__/);
  for (const spelled of [polluting, polluting.replace('__proto__', '__pr\\u006fto__')])
    assert.throws(() => decodeAll([framed(`[${spelled},[]]`)]), /member named __proto__/);
});

test('a name may be spelled with escapes and means the same', () => {
  assert.throws(() => decodeAll([framed('[{"\\u0024bytes":7},[]]')]), /points to bytes/);
  assert.deepEqual(decodeAll([framed('[{"$\\u0024bytes":7},[]]')]), [{ $bytes: 7 }]);
});
