import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DEPTH_MAX, Decoder, encode, FRAME_BYTES_MAX } from './runner/wire.mjs';

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
        const bytes = Buffer.concat(values.map((value) => encode({ value })));
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

test('a length beyond the maximum is refused before it is collected', () => {
  const head = new Uint8Array(8);
  new DataView(head.buffer).setUint32(0, FRAME_BYTES_MAX + 1);
  assert.throws(() => decodeAll([head]), /not possible/);
});

test('bytes that the frame does not have, and parts that do not fill it, are refused', () => {
  const framed = (text: string): Uint8Array => {
    const body = Buffer.from(text);
    const frame = Buffer.alloc(8 + body.byteLength);
    frame.writeUInt32BE(body.byteLength, 0);
    frame.writeUInt32BE(body.byteLength, 4);
    body.copy(frame, 8);
    return frame;
  };
  for (const text of [
    '[{"$bytes":7},[]]',
    '[{"$bytes":"length"},[]]',
    '[1,[-1]]',
    '[1,[5]]',
    '[1]',
    'null',
    '{',
  ])
    assert.throws(() => decodeAll([framed(text)]), Error, text);
});

test('depth is bounded both ways', () => {
  let deep: unknown = 1;
  for (let index = 0; index <= DEPTH_MAX + 1; index++) deep = [deep];
  assert.throws(() => encode(deep), /too deep/);
});

test('__proto__ never travels', () => {
  const [message] = decodeAll([encode(JSON.parse('{"a":{"__proto__":{"polluted":true}}}'))]);
  assert.deepEqual(message, { a: {} });
});
