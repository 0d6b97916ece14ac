/** Messages come in pieces of any size, and from a process that may have been taken over. */
import assert from 'node:assert/strict';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Message, receive, send } from './frame.ts';

async function sent(message: Message): Promise<Buffer> {
  const stream = new PassThrough();
  send(stream, message);
  return buffer(stream);
}

const inPieces = (bytes: Buffer, size: number): Readable =>
  Readable.from(
    Array.from({ length: Math.ceil(bytes.byteLength / size) }, (_, index) =>
      bytes.subarray(index * size, (index + 1) * size),
    ),
  );

const message = fc.record({
  head: fc.jsonValue(),
  parts: fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 5 }),
});

test('a message arrives as it was sent, in whatever pieces', async () => {
  await fc.assert(
    fc.asyncProperty(message, fc.integer({ min: 1, max: 400 }), async (given, size) => {
      const got = await receive(inPieces(await sent(given), size), 1_500);
      assert.equal(JSON.stringify(got.head), JSON.stringify(given.head));
      assert.deepEqual(got.parts.map(String), given.parts.map(String));
    }),
  );
});

test('anything but one whole message is refused', async () => {
  const whole = await sent({ head: 1, parts: [Buffer.from('abc'), Buffer.from('de')] });
  const refused = (bytes: Buffer, bytesMax = 100) =>
    assert.rejects(receive(inPieces(bytes, 7), bytesMax), Error);
  for (let length = 0; length < whole.byteLength; length++) await refused(whole.subarray(0, length));
  await refused(Buffer.concat([whole, Buffer.from('x')]));
  await refused(whole, 4);
  const claims = (text: string): Buffer => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(text.length);
    return Buffer.concat([length, Buffer.from(text)]);
  };
  for (const lengths of ['[-1]', '[1e20]', '["1"]', '[null]', '{}', 'null', `[${Array(2_001).fill(0)}]`])
    await refused(claims(`{"head":1,"lengths":${lengths}}`));
  await refused(Buffer.from([255, 255, 255, 255]));
});
