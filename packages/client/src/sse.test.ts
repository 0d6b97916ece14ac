import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { propertyRuns } from '../../protocol/src/testing/property-runs.ts';
import { createSseParser, type SseFrame } from './sse.ts';

const encode = (text: string) => new TextEncoder().encode(text);

function parse(text: string): SseFrame[] {
  return createSseParser().push(encode(text));
}

/** Cuts `bytes` at the given places and feeds the pieces one by one. */
function parseCut(bytes: Uint8Array, cuts: readonly number[]): SseFrame[] {
  const parser = createSseParser();
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return places.slice(1).flatMap((end, i) => parser.push(bytes.subarray(places[i], end)));
}

test('a frame carries id, event and data', () => {
  assert.deepEqual(parse('id: 7\nevent: node.completed\ndata: {"a":1}\n\n'), [
    { id: '7', event: 'node.completed', data: '{"a":1}' },
  ]);
});

test('lines may end in LF, CR or CRLF', () => {
  for (const end of ['\n', '\r', '\r\n']) {
    const text = ['event: a', 'data: 1', '', 'data: 2', '', ''].join(end);
    assert.deepEqual(parse(text), [
      { id: '', event: 'a', data: '1' },
      { id: '', event: 'message', data: '2' },
    ]);
  }
});

test('data lines are joined, one leading space is dropped, a field may lack its colon', () => {
  assert.deepEqual(parse('data:  x\ndata:y\ndata\n\n'), [{ id: '', event: 'message', data: ' x\ny\n' }]);
});

test('comments and unknown fields are ignored; a frame without data only moves the id', () => {
  assert.deepEqual(parse(':keepalive\n\nid: 3\nevent: x\n\nretry: 5\nfoo: bar\ndata: z\n\n'), [
    { id: '3', event: 'message', data: 'z' },
  ]);
});

test('an id with a NUL is ignored, a byte order mark is dropped, the cut-off last frame too', () => {
  assert.deepEqual(parse('\uFEFFid: 1\ndata: a\n\nid: 2\0\ndata: b\n\ndata: lost\n'), [
    { id: '1', event: 'message', data: 'a' },
    { id: '1', event: 'message', data: 'b' },
  ]);
});

const lineText = fc
  .string({ unit: 'binary', maxLength: 12 })
  .map((text) => text.replace(/[\r\n\0\uFEFF]/g, ''));
const field = fc.oneof(
  fc
    .record({ name: fc.constantFrom('data', 'event', 'id', 'other'), value: lineText })
    .map((f) => `${f.name}: ${f.value}`),
  lineText.map((text) => `:${text}`),
  fc.constant('data'),
  fc.constant(''),
);
const lineEnd = fc.constantFrom('\n', '\r', '\r\n');
const stream = fc
  .array(fc.tuple(field, lineEnd), { maxLength: 30 })
  .map((lines) => lines.map(([text, end]) => text + end).join(''));

test('any chunking gives the same frames', () => {
  fc.assert(
    fc.property(stream, fc.array(fc.nat(), { maxLength: 40 }), (text, cuts) => {
      const bytes = encode(text);
      assert.deepEqual(parseCut(bytes, cuts), parse(text));
    }),
    { numRuns: propertyRuns(500) },
  );
});

test('byte by byte, multi-byte characters survive', () => {
  const text = 'data: Zürich 日本 🏗\r\n\r\n';
  const bytes = encode(text);
  const frames = parseCut(
    bytes,
    Array.from(bytes, (_, i) => i),
  );
  assert.deepEqual(frames, [{ id: '', event: 'message', data: 'Zürich 日本 🏗' }]);
});

test('what is written is read back, whatever the data', () => {
  const datum = fc.string({ unit: 'binary' }).map((text) => text.replace(/[\r\uFEFF]/g, ''));
  fc.assert(
    fc.property(fc.array(datum), lineEnd, (data, end) => {
      const text = data
        .map((datum, i) =>
          [`id: ${i}`, ...datum.split('\n').map((part) => `data: ${part}`), '', ''].join(end),
        )
        .join('');
      const frames = parse(text);
      assert.deepEqual(
        frames.map((frame) => frame.data),
        data.map((datum) => new TextDecoder().decode(encode(datum))),
      );
      assert.deepEqual(
        frames.map((frame) => frame.id),
        data.map((_, i) => String(i)),
      );
    }),
  );
});
