/** What is written is read, in every format; what is not written here is read or refused. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { OpenwopError } from '@gantry/protocol';
import fc from 'fast-check';
import { propertyRuns } from '../../../../../protocol/src/testing/property-runs.ts';
import { FORMATS } from '../convert/archives.ts';
import { Unconvertible } from '../convert/task.ts';
import type { ArchiveFile } from './contents.ts';
import { plainEntries } from './names.ts';
import { withSum } from './testing/tar-sum.ts';

const name = fc.stringMatching(/^[a-zäπ漢_-][a-z0-9 äπ漢_-]{0,40}[a-z]$/u);
const path = fc.array(name, { minLength: 1, maxLength: 6 }).map((names) => names.join('/'));
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 3_000 }),
  fc.tuple(fc.nat(255), fc.nat(40_000)).map(([byte, length]) => new Uint8Array(length).fill(byte)),
);
const files = fc.uniqueArray(fc.record({ path, bytes }), { maxLength: 12, selector: (file) => file.path });
const plain = (list: readonly ArchiveFile[]) => list.map((file) => [file.path, Buffer.from(file.bytes)]);

const SAMPLES: readonly ArchiveFile[] = [
  { path: 'readme.md', bytes: Buffer.from('# Read me\n'.repeat(30)) },
  { path: `${'deep/'.repeat(25)}ünïcode.bin`, bytes: Buffer.from([0, 1, 2, 255]) },
  { path: 'empty', bytes: new Uint8Array() },
];

interface Change {
  readonly at: number;
  readonly cut: number;
  readonly put: Uint8Array;
}

const changes = fc.array(
  fc.record({ at: fc.nat(), cut: fc.nat(40), put: fc.uint8Array({ maxLength: 40 }) }),
  { minLength: 1, maxLength: 4 },
);

const changed = (whole: Buffer, all: readonly Change[]): Buffer =>
  all.reduce((now, { at, cut, put }) => {
    const start = at % (now.byteLength + 1);
    return Buffer.concat([now.subarray(0, start), put, now.subarray(start + cut)]);
  }, whole);

/** As many bytes, so that what lies behind them stays where it was. */
const flipped = (whole: Buffer, all: readonly (readonly [number, number])[]): Buffer => {
  const made = Buffer.from(whole);
  for (const [at, byte] of all) made[at % made.byteLength] = byte;
  return made;
};
const flips = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 6 });

async function readsOrRefuses(read: (bytes: Buffer) => ReturnType<typeof FORMATS.zip.read>, made: Buffer) {
  try {
    const { files: found, folders } = read(made);
    const paths = await plainEntries({ files: found.map((file) => file.path), folders });
    for (const each of paths) assert.doesNotMatch(each, /^\/|(^|\/)\.{1,2}(\/|$)|\\|\0/);
    assert.equal(new Set(paths).size, found.length);
  } catch (error) {
    assert.ok(error instanceof Unconvertible || error instanceof OpenwopError, String(error));
  }
}

for (const [format, { read, write }] of Object.entries(FORMATS))
  describe(format, () => {
    test('gives back what went in, and the same bytes for the same files', async () => {
      await fc.assert(
        fc.asyncProperty(files, async (given) => {
          const made = await write(given);
          assert.deepEqual(plain(read(made).files), plain(given));
          assert.equal(Buffer.compare(made, await write(given)), 0);
        }),
        { numRuns: 60 },
      );
    });

    test('whatever is changed in it, it is read or refused', async () => {
      const whole = await write(SAMPLES);
      await fc.assert(
        fc.asyncProperty(changes, (all) => readsOrRefuses(read, changed(whole, all))),
        { numRuns: propertyRuns(300) },
      );
      await fc.assert(
        fc.asyncProperty(flips, (all) => readsOrRefuses(read, flipped(whole, all))),
        { numRuns: propertyRuns(500) },
      );
    });
  });

test('headers of tar files with right sums and wrong fields are read or refused', async () => {
  const whole = await FORMATS.tar.write(SAMPLES);
  const headers = Array.from({ length: whole.byteLength / 512 }, (_, index) => index * 512).filter(
    (at) => whole.toString('latin1', at + 257, at + 262) === 'ustar',
  );
  const spoilt = fc.tuple(fc.constantFrom(...headers), flips);
  await fc.assert(
    fc.asyncProperty(spoilt, async ([at, all]) => {
      const header = withSum(flipped(whole.subarray(at, at + 512), all));
      const made = Buffer.concat([whole.subarray(0, at), header, whole.subarray(at + 512)]);
      await readsOrRefuses(FORMATS.tar.read, made);
      await readsOrRefuses(FORMATS['tar-gz'].read, gzipSync(made));
    }),
    { numRuns: propertyRuns(400) },
  );
});

test('no archive tells when or where it was made', async () => {
  const gz = await FORMATS['tar-gz'].write(SAMPLES);
  assert.equal(gz.readUInt32LE(4), 0);
  assert.equal(gz[9], 255);
  assert.equal(Buffer.compare(gunzipSync(gz), await FORMATS.tar.write(SAMPLES)), 0);
});
