/** Zip files that are not what they should be. What is right is in `formats.test.ts` and `interop.test.ts`. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { crc32, deflateRawSync } from 'node:zlib';
import { ENTRIES_MAX } from './limits.ts';
import { readZip } from './read-zip.ts';
import { writeZip } from './write-zip.ts';
import { CENTRAL, END, FLAGS, LOCAL, MODE_SHIFT } from './zip-format.ts';

const CONTENT = Buffer.from('a line of text\n'.repeat(20));
const NAME = 'a/b.txt';
const zip = writeZip([{ path: NAME, bytes: CONTENT }]);
const PACKED = deflateRawSync(CONTENT).byteLength;
const DIRECTORY = LOCAL.bytes + NAME.length + PACKED;
const LAST = zip.byteLength - END.bytes;

type Field = readonly [base: number, offset: number, bytes: 2 | 4, value: number];

function patched(...fields: readonly Field[]): Buffer {
  const made = Buffer.from(zip);
  for (const [base, offset, bytes, value] of fields) made.writeUIntLE(value, base + offset, bytes);
  return made;
}

const inBoth = (name: 'method' | 'flags' | 'crc' | 'size' | 'packed', value: number): Field[] => {
  const bytes = name === 'method' || name === 'flags' ? 2 : 4;
  return [
    [0, LOCAL[name], bytes, value],
    [DIRECTORY, CENTRAL[name], bytes, value],
  ];
};

const mode = (kind: number): Field => [DIRECTORY, CENTRAL.attributes, 4, (kind << MODE_SHIFT) >>> 0];

const REFUSED: readonly [string, Buffer, Partial<Record<'code' | 'message', unknown>>][] = [
  ['nothing', Buffer.alloc(0), { message: /not a complete zip file/ }],
  ['no zip file', Buffer.alloc(5_000, 'PK'), { message: /not a complete zip file/ }],
  ['a part of one', zip.subarray(0, -1), { message: /not a complete zip file|cut off/ }],
  ['something behind it', Buffer.concat([zip, Buffer.from('x')]), { message: /follows its end/ }],
  ['something before it', Buffer.concat([Buffer.from('x'), zip]), { message: /another offset/ }],
  ['zip64', patched([LAST, END.entries, 2, 0xffff]), { message: /zip64/ }],
  ['zip64 in an entry', patched([DIRECTORY, CENTRAL.size, 4, 0xffff_ffff]), { message: /"a\/b.txt".*zip64/ }],
  ['a second volume', patched([LAST, END.volume, 2, 1]), { message: /volumes/ }],
  [
    'too few entries',
    patched([LAST, END.entries, 2, 0], [LAST, END.entriesHere, 2, 0]),
    { message: /more directory entries/ },
  ],
  [
    'too many entries',
    patched([LAST, END.entries, 2, 2], [LAST, END.entriesHere, 2, 2]),
    { message: /fewer directory entries/ },
  ],
  ['a password', patched(...inBoth('flags', FLAGS.utf8 | 1)), { message: /"a\/b.txt".*encrypted/ }],
  ['another method', patched(...inBoth('method', 12)), { message: /"a\/b.txt".*method 12/ }],
  ['a link', patched(mode(0o120777)), { code: 'path_outside_sandbox', message: /"a\/b.txt".*is a link/ }],
  ['a device', patched(mode(0o020666)), { code: 'fs_permission_denied', message: /"a\/b.txt".*device/ }],
  ['a pipe', patched(mode(0o010666)), { code: 'fs_permission_denied', message: /pipe/ }],
  ['a folder with content', patched(mode(0o040755)), { message: /folder with content/ }],
  ['another sum', patched(...inBoth('crc', crc32('x'))), { message: /"a\/b.txt".*damaged/ }],
  ['less than it says', patched(...inBoth('size', CONTENT.byteLength + 1)), { message: /damaged/ }],
  ['more than it says', patched(...inBoth('size', CONTENT.byteLength - 1)), { message: /damaged/ }],
  ['an end that comes early', patched(...inBoth('packed', PACKED - 1)), { message: /damaged/ }],
  [
    'content that ends in the directory',
    patched(...inBoth('packed', PACKED + 1)),
    { message: /does not match its directory/ },
  ],
  ['stored and deflated', patched([0, LOCAL.method, 2, 0]), { message: /does not match its directory/ }],
  ['two sizes', patched([0, LOCAL.size, 4, 1]), { message: /does not match its directory/ }],
  ['two names', patched([0, LOCAL.bytes, 2, 0x7878]), { message: /does not match its directory/ }],
  [
    'an entry elsewhere',
    patched([DIRECTORY, CENTRAL.offset, 4, 5]),
    { message: /does not match its directory/ },
  ],
  [
    'an entry far away',
    patched([DIRECTORY, CENTRAL.offset, 4, 1e9]),
    { message: /does not match its directory/ },
  ],
  ['a name that is no UTF-8', patched([DIRECTORY, CENTRAL.bytes, 2, 0xffff]), { message: /not UTF-8/ }],
  ['a bomb', patched(...inBoth('size', 1_048_577)), { code: 'file_too_large', message: /"a\/b.txt"/ }],
];

describe('refused with its name', () => {
  for (const [what, bytes, error] of REFUSED)
    test(what, () => {
      assert.throws(() => readZip(bytes), { name: 'Error', code: 'validation_error', ...error });
    });
});

test('many entries in the same bytes are refused', () => {
  const entry = zip.subarray(DIRECTORY, LAST);
  const end = Buffer.from(zip.subarray(LAST));
  end.writeUInt16LE(2, END.entries);
  end.writeUInt16LE(2, END.entriesHere);
  end.writeUInt32LE(2 * entry.byteLength, END.directoryBytes);
  const made = Buffer.concat([zip.subarray(0, DIRECTORY), entry, entry, end]);
  assert.throws(() => readZip(made), { message: /"a\/b.txt".*shares bytes/ });
});

test('an archive has so many entries, and none with a long name', () => {
  const many = Array.from({ length: ENTRIES_MAX + 1 }, (_, index) => ({
    path: `f${index}`,
    bytes: new Uint8Array(),
  }));
  assert.equal(readZip(writeZip(many.slice(1))).files.length, ENTRIES_MAX);
  assert.throws(() => readZip(writeZip(many)), { code: 'file_too_large', message: /2000 entries/ });
  const long = { path: 'x'.repeat(1_025), bytes: new Uint8Array() };
  assert.throws(() => readZip(writeZip([long])), { message: /"xxx.*more than 1024 bytes/ });
});

test('sizes may follow the content', () => {
  const made = patched(
    ...inBoth('flags', FLAGS.utf8 | FLAGS.sizesFollow),
    ...[LOCAL.crc, LOCAL.packed, LOCAL.size].map((offset): Field => [0, offset, 4, 0]),
  );
  assert.deepEqual(readZip(made).files, [{ path: NAME, bytes: CONTENT }]);
});

test('what deflates to almost nothing is stored, so that it is taken again', () => {
  const bytes = Buffer.alloc(4_000_000);
  const made = writeZip([{ path: 'zeros', bytes }]);
  assert.ok(made.byteLength > bytes.byteLength);
  assert.equal(Buffer.compare(readZip(made).files[0]!.bytes, bytes), 0);
});
