/** Tar files that are not what they should be. What is right is in `formats.test.ts` and `interop.test.ts`. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { writeTarGz } from '../convert/archives.ts';
import { ENTRIES_MAX } from './limits.ts';
import { readTar, readTarGz } from './read-tar.ts';
import { withSum } from './testing/tar-sum.ts';

interface Piece {
  readonly name: string;
  readonly flag?: string;
  readonly content?: string;
  /** Written in place of the length. */
  readonly size?: string;
}

const END = Buffer.alloc(1_024);

function block({ name, flag = '0', content = '', size }: Piece): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0, 'utf8');
  header.write(size ?? Buffer.byteLength(content).toString(8).padStart(11, '0'), 124);
  header.write(flag, 156);
  header.write('ustar\0', 257);
  const bytes = Buffer.from(content);
  return Buffer.concat([withSum(header), bytes, Buffer.alloc(-bytes.byteLength & 511)]);
}

const tarOf = (...pieces: readonly Piece[]): Buffer => Buffer.concat([...pieces.map(block), END]);

const pax = (record: string, flag = 'x'): Piece => ({
  name: 'PaxHeader',
  flag,
  content: `${record.length + 4} ${record}\n`,
});

const file: Piece = { name: 'f', content: 'x' };
const good = tarOf(file);

const REFUSED: readonly (readonly [string, Buffer, Partial<Record<'code' | 'message', unknown>>])[] = [
  ['nothing', Buffer.alloc(0), { message: /ends in the middle/ }],
  ['no tar file', Buffer.alloc(5_000, 'x'), { message: /not a tar file|invalid number/ }],
  ['no end', good.subarray(0, 1_024), { message: /ends in the middle/ }],
  ['half a file', good.subarray(0, 512), { message: /ends in the middle/ }],
  ['a second archive', Buffer.concat([good, good]), { message: /continues after its end/ }],
  ['a damaged header', Buffer.concat([Buffer.from('g'), good.subarray(1)]), { message: /header.*damaged/ }],
  ['a size that is none', tarOf({ ...file, size: '-0000000001' }), { message: /invalid number/ }],
  ['a size in another form', tarOf({ ...file, size: '\x80' }), { message: /invalid number/ }],
  ['more than there is', tarOf({ ...file, size: '00000100000' }), { message: /ends in the middle/ }],
  ['a link', tarOf({ name: 'l', flag: '2' }), { code: 'path_outside_sandbox', message: /"l".*is a link/ }],
  ['a hard link', tarOf({ name: 'l', flag: '1' }), { code: 'path_outside_sandbox', message: /"l".*link/ }],
  [
    'a long link',
    tarOf({ name: 'L', flag: 'K', content: 'x' }, { name: 'l', flag: '2' }),
    { code: 'path_outside_sandbox', message: /"l".*link/ },
  ],
  ['a device', tarOf({ name: 'd', flag: '3' }), { code: 'fs_permission_denied', message: /"d".*device/ }],
  ['a pipe', tarOf({ name: 'p', flag: '6' }), { code: 'fs_permission_denied', message: /"p".*pipe/ }],
  ['an unknown type', tarOf({ name: 's', flag: 'S' }), { message: /"s".*type "S"/ }],
  ['a folder with content', tarOf({ name: 'd/', content: 'x' }), { message: /"d\/".*with content/ }],
  ['a file with holes', tarOf(pax('GNU.sparse.major=1'), file), { message: /sparse/ }],
  ['a name for all', tarOf(pax('path=x', 'g'), file), { message: /many entries/ }],
  ['a size that PAX gives wrongly', tarOf(pax('size=-1'), file), { message: /invalid size/ }],
  ['a PAX header without its entry', tarOf(pax('path=x')), { message: /ends in the middle/ }],
  ...['99999 path=x\n', '0 path=x\n', '-9 path=x\n', '9 path', '1 ', 'x'].map(
    (content) =>
      [
        `a PAX header like ${JSON.stringify(content)}`,
        tarOf({ name: 'p', flag: 'x', content }, file),
        { message: /damaged PAX header/ },
      ] as const,
  ),
];

describe('refused with its name', () => {
  for (const [what, bytes, error] of REFUSED)
    test(what, () => {
      assert.throws(() => readTar(bytes), { name: 'Error', code: 'validation_error', ...error });
    });

  test('a name that is no UTF-8', () => {
    const made = tarOf(file);
    made[0] = 0xff;
    const fixed = Buffer.concat([withSum(made.subarray(0, 512)), made.subarray(512)]);
    assert.throws(() => readTar(fixed), { message: /not UTF-8/ });
  });
});

test('names and sizes of PAX and GNU headers count', () => {
  const path = `${'long/'.repeat(40)}name`;
  const found = readTar(
    tarOf(
      pax('comment=of all', 'g'),
      { name: '././@LongLink', flag: 'L', content: `${path}\0` },
      file,
      pax('path=p'),
      { name: 'ignored', content: 'ab' },
      pax('size=3'),
      { ...file, content: 'abc', size: '00000000001' },
      { name: './', flag: '5' },
      { name: 'old/' },
    ),
  );
  assert.deepEqual(
    found.files.map((each) => [each.path, String(each.bytes)]),
    [
      [path, 'x'],
      ['p', 'ab'],
      ['f', 'abc'],
    ],
  );
  assert.deepEqual(found.folders, ['./', 'old/']);
});

test('an archive has so many entries', () => {
  const many = Array.from({ length: ENTRIES_MAX + 1 }, (_, index) => ({ name: `f${index}` }));
  assert.equal(readTar(tarOf(...many.slice(1))).files.length, ENTRIES_MAX);
  assert.throws(() => readTar(tarOf(...many)), { code: 'file_too_large', message: /2000 entries/ });
});

describe('gzip', () => {
  test('bombs, parts and what follows the end are refused', () => {
    const bomb = gzipSync(Buffer.alloc(40_000_000), { level: 9 });
    assert.throws(() => readTarGz(bomb), { code: 'file_too_large', message: /unpacks to more than/ });
    const packed = gzipSync(good);
    assert.throws(() => readTarGz(packed.subarray(0, -1)), { message: /not a complete gzip stream/ });
    assert.throws(() => readTarGz(good), { message: /not a complete gzip stream/ });
    assert.throws(() => readTarGz(Buffer.concat([packed, Buffer.from('xx')])), {
      message: /continues|not a complete/,
    });
  });

  test('a stream in several members is one', () => {
    const members = Buffer.concat([gzipSync(good.subarray(0, 700)), gzipSync(good.subarray(700))]);
    assert.equal(readTarGz(members).files.length, 1);
  });

  test('what packs to almost nothing is stored, so that it is taken again', async () => {
    const bytes = Buffer.alloc(4_000_000);
    const made = await writeTarGz([{ path: 'zeros', bytes }]);
    assert.equal(Buffer.compare(readTarGz(made).files[0]!.bytes, bytes), 0);
    const large = [{ path: 'large', bytes: new Uint8Array(33_554_432) }];
    await assert.rejects(writeTarGz(large), { code: 'file_too_large', message: /before it is compressed/ });
  });
});
