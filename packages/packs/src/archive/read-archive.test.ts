import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { OpenwopError } from '@gantry/protocol';
import { hostile, MANIFEST, TAR_END, type TarEntry, tarEntry, tarHeader, tgz } from '../testing/tar.ts';
import { ARCHIVE_LIMITS } from './limits.ts';
import { readArchive } from './read-archive.ts';

async function codeOf(bytes: Uint8Array, limits = ARCHIVE_LIMITS): Promise<string | undefined> {
  try {
    await readArchive(bytes, limits);
    return undefined;
  } catch (error) {
    assert.ok(error instanceof OpenwopError, String(error));
    return error.code;
  }
}

const file = (name: string, more: Partial<TarEntry> = {}): TarEntry => ({ name, content: 'x', ...more });

describe('hostile names', () => {
  for (const [name, code] of [
    ['../escape', 'tarball_path_traversal'],
    ['a/../../escape', 'tarball_path_traversal'],
    ['./../escape', 'tarball_path_traversal'],
    ['/etc/passwd', 'tarball_path_traversal'],
    ['C:/windows', 'tarball_path_traversal'],
    ['..', 'tarball_path_traversal'],
    ['a\\..\\b', 'unsafe_paths'],
    ['a//b', 'unsafe_paths'],
    ['a/./b', 'unsafe_paths'],
    ['././a', 'unsafe_paths'],
    ['con', 'unsafe_paths'],
    ['nul.txt', 'unsafe_paths'],
    ['dot.', 'unsafe_paths'],
    ['stream:x', 'unsafe_paths'],
    ['line\nbreak', 'unsafe_paths'],
    ['a/', 'unsafe_paths'],
    ['pack.json', 'unsafe_paths'],
    ['./pack.json', 'unsafe_paths'],
    ['PACK.JSON', 'unsafe_paths'],
    ['pack.json/x', 'unsafe_paths'],
    [`${'d/'.repeat(20)}x`, 'unsafe_paths'],
  ] as const)
    test(JSON.stringify(name.slice(0, 24)), async () => {
      assert.equal(await codeOf(hostile(file(name))), code);
    });

  test('names of folders that differ by case, or by the form of a letter', async () => {
    assert.equal(await codeOf(hostile(file('Lib/a'), file('lib/b'))), 'unsafe_paths');
    assert.equal(await codeOf(hostile(file('caf\u00e9'), file('cafe\u0301'))), 'unsafe_paths');
    assert.equal(await codeOf(hostile(file('lib/a'), file('lib'))), 'unsafe_paths');
    assert.equal(await codeOf(hostile(file('lib/a'), file('lib/b'))), undefined);
  });

  test('a long name in two parts, and one that is no UTF-8', async () => {
    assert.equal(await codeOf(hostile(file('x'.repeat(90), { prefix: 'y'.repeat(90) }))), 'unsafe_paths');
    const block = tarHeader(file('abc', { content: '' }));
    block[0] = 0xff;
    block.write(' '.repeat(8), 148);
    const sum = block.reduce((total, byte) => total + byte, 0);
    block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    assert.equal(await codeOf(tgz(block, TAR_END)), 'tarball_tar_parse_failed');
  });
});

describe('hostile entries', () => {
  for (const [type, code] of [
    ['1', 'unsafe_paths'],
    ['2', 'unsafe_paths'],
    ['3', 'unsafe_paths'],
    ['4', 'unsafe_paths'],
    ['6', 'unsafe_paths'],
    ['7', 'tarball_tar_parse_failed'],
    ['x', 'tarball_tar_parse_failed'],
    ['g', 'tarball_tar_parse_failed'],
    ['L', 'tarball_tar_parse_failed'],
    ['K', 'tarball_tar_parse_failed'],
    ['S', 'tarball_tar_parse_failed'],
  ] as const)
    test(`of type ${type}`, async () => {
      assert.equal(await codeOf(hostile(file('a', { type, linkname: '/etc/passwd' }))), code);
    });

  for (const [name, entry, code] of [
    ['a folder with content', file('d/', { type: '5' }), 'tarball_tar_parse_failed'],
    ['a size that is not octal', file('a', { size: '99999999999\0' }), 'tarball_tar_parse_failed'],
    ['a size in base 256', file('a', { size: '\x80\0\0\0\0\0\0\0\0\0\0\x01' }), 'tarball_tar_parse_failed'],
    ['a negative size', file('a', { size: '-0000000001\0' }), 'tarball_tar_parse_failed'],
    ['a size beyond the end', file('a', { size: 4096 }), 'tarball_tar_parse_failed'],
    ['a size beyond the limit', file('a', { size: 6 * 1024 * 1024 }), 'tarball_entry_too_large'],
    ['a size of eight gigabytes', file('a', { size: '77777777777\0' }), 'tarball_entry_too_large'],
    ['another format', file('a', { magic: 'nostar' }), 'tarball_tar_parse_failed'],
  ] as const)
    test(name, async () => {
      assert.equal(await codeOf(hostile(entry)), code);
    });

  test('a manifest that is missing, below the root or too large', async () => {
    assert.equal(await codeOf(tgz(tarEntry(file('a')), TAR_END)), 'tarball_manifest_missing');
    assert.equal(await codeOf(tgz(tarEntry(file('tools/pack.json')), TAR_END)), 'tarball_manifest_missing');
    const large = file('pack.json', { content: Buffer.alloc(300 * 1024) });
    assert.equal(await codeOf(tgz(tarEntry(large), TAR_END)), 'tarball_manifest_too_large');
  });
});

describe('what is around the entries', () => {
  test('a damaged header, no end, half an end, something after it, something in between', async () => {
    const manifest = tarEntry(MANIFEST);
    const damaged = Buffer.from(manifest);
    damaged[150] = 0x39;
    assert.equal(await codeOf(tgz(damaged, TAR_END)), 'tarball_tar_parse_failed');
    assert.equal(await codeOf(tgz(manifest)), 'tarball_tar_parse_failed');
    assert.equal(await codeOf(tgz(manifest, Buffer.alloc(100))), 'tarball_tar_parse_failed');
    const hidden = tarEntry(file('hidden'));
    assert.equal(await codeOf(tgz(manifest, TAR_END, hidden, TAR_END)), 'tarball_tar_parse_failed');
    const stuffed = Buffer.from(manifest);
    stuffed[1000] = 1;
    assert.equal(await codeOf(tgz(stuffed, TAR_END)), 'tarball_tar_parse_failed');
  });

  test('what is no gzip, half of one, and what follows one', async () => {
    const whole = hostile();
    assert.equal(await codeOf(Buffer.from('hello')), 'tarball_gunzip_failed');
    assert.equal(await codeOf(new Uint8Array()), 'tarball_gunzip_failed');
    assert.equal(await codeOf(whole.subarray(0, whole.length - 9)), 'tarball_gunzip_failed');
    assert.equal(await codeOf(Buffer.concat([whole, Buffer.from('tail')])), 'tarball_gunzip_failed');
    assert.equal(await codeOf(whole), undefined);
  });

  test('legacy archives with ./ names and folders are read under plain names', async () => {
    const folder: TarEntry = { name: './', type: '5' };
    const legacy = [folder, file('./pack.json'), { name: './lib/', type: '5' }, file('./lib/a.mjs')];
    const { files } = await readArchive(tgz(...legacy.map(tarEntry), TAR_END));
    assert.deepEqual([...files.keys()], ['pack.json', 'lib/a.mjs']);
  });
});

describe('bombs', () => {
  test('a ratio that no pack has is stopped early', async () => {
    const bomb = gzipSync(Buffer.alloc(40 * 1024 * 1024));
    assert.ok(bomb.length < 100_000);
    assert.equal(await codeOf(bomb), 'tarball_too_large');
    const files = Array.from({ length: 8 }, (_, index) =>
      file(`a${index}`, { content: Buffer.alloc(4 * 1024 * 1024) }),
    );
    assert.equal(await codeOf(hostile(...files)), 'tarball_too_large');
  });

  test('total size, archive size and number of entries', async () => {
    const limits = { ...ARCHIVE_LIMITS, totalBytesMax: 4096, entriesMax: 5 };
    assert.equal(
      await codeOf(hostile(file('a', { content: Buffer.alloc(4000) })), limits),
      'tarball_too_large',
    );
    const many = Array.from({ length: 5 }, (_, index) => file(`a${index}`, { content: '' }));
    assert.equal(await codeOf(hostile(...many), limits), 'tarball_too_large');
    assert.equal(await codeOf(hostile(), { ...ARCHIVE_LIMITS, archiveBytesMax: 50 }), 'tarball_too_large');
  });

  test('a source that never ends is not read to its end', async () => {
    let given = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        given += 65_536;
        yield Buffer.alloc(65_536, 0x41);
      }
    }
    await assert.rejects(readArchive(endless()), OpenwopError);
    assert.ok(given < 4 * 1024 * 1024, `${given} bytes were taken`);
  });
});
