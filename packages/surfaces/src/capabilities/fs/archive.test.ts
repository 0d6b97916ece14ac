/** `ctx.fs.archive` as packs call it. */
import assert from 'node:assert/strict';
import { randomFillSync } from 'node:crypto';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { OpenwopError } from '@gantry/protocol';
import { publicValidator } from '../../../../protocol/src/testing/public-schemas.ts';
import { createCursors } from '../../calls/cursor.ts';
import type { Data } from '../../calls/data.ts';
import { TEXT_BYTES_MAX } from '../../calls/spelling.ts';
import { FILE_BYTES_MAX, type FilesPort } from '../../ports/files.ts';
import { NO_CONVERTER } from '../../testing/no-converter.ts';
import { callGateOf, nodeOf } from '../../testing/test-call-gate.ts';
import { withSum } from './archive/testing/tar-sum.ts';
import { writeTar } from './convert/archives.ts';
import { type Converter, openConverter } from './convert/converter.ts';
import { implementFs } from './surface.ts';

/** Archives have nothing to do with what is on the disk. */
const untouched = () => Promise.reject(new Error('no file is looked at'));
const port: FilesPort = {
  read: untouched,
  stat: untouched,
  list: untouched,
  write: untouched,
  delete: untouched,
};

function world(converter: Converter = openConverter()) {
  const cursors = createCursors(new Uint8Array(32).fill(7));
  const callGate = callGateOf([implementFs({ port, cursors, converter })]);
  const call = (method: string, input: Data, effect: 'pure' | 'effect' = 'effect') =>
    nodeOf(callGate, { effect })(`fs.archive.${method}`, input);
  return { ...callGate, call };
}

const bytes = (text: string) => new Uint8Array(Buffer.from(text));
const entries = [
  { path: 'notes/a.txt', bytes: bytes('a note') },
  { path: './b', bytes: bytes('') },
];
const plain = [entries[0]!, { path: 'b', bytes: bytes('') }];
type Made = { bytes: Uint8Array; contentType: string; size: number };

describe('archives', () => {
  for (const [format, contentType] of [
    ['zip', 'application/zip'],
    ['tar', 'application/x-tar'],
    ['tar-gz', 'application/gzip'],
  ] as const)
    test(`are made and read as ${format}, always alike, also by nodes that are pure`, async () => {
      const { call } = world();
      const made = (await call('create', { format, entries }, 'pure')) as Made;
      assert.deepEqual([made.contentType, made.size], [contentType, made.bytes.byteLength]);
      assert.equal('contentBase64' in made, false);
      assert.deepEqual(await call('create', { format, entries }), made);
      assert.deepEqual(await call('extract', { format, bytes: made.bytes }, 'pure'), { entries: plain });
    });

  test('in base64, as published packs have them', async () => {
    const { call } = world();
    const given = [{ path: 'a.txt', contentBase64: 'YQ==' }];
    const made = (await call('create', { format: 'zip', entries: given })) as Record<string, Data>;
    assert.deepEqual(Object.keys(made).sort(), ['contentBase64', 'contentType', 'size']);
    const contentBase64 = made.contentBase64!;
    assert.equal(made.size, Buffer.from(String(contentBase64), 'base64').byteLength);
    assert.deepEqual(await call('extract', { format: 'zip', contentBase64 }), { entries: given });
    const empty = (await call('create', { format: 'tar', entries: [] })) as Record<string, Data>;
    assert.equal(Buffer.compare(empty.bytes as Uint8Array, Buffer.alloc(1_024)), 0);
    assert.deepEqual(await call('extract', { format: 'tar', contentBase64: empty.contentBase64! }), {
      entries: [],
    });
  });

  test('are refused as a whole, with the entry that is at fault', async () => {
    const { call } = world();
    const evil = [
      ['../../evil', 'path_outside_sandbox'],
      ['/etc/evil', 'path_outside_sandbox'],
      ['a', 'validation_error'],
    ] as const;
    for (const [path, code] of evil) {
      const files = ['a', path].map((each) => ({ path: each, bytes: bytes('x') }));
      const refused = { code, message: new RegExp(JSON.stringify(path)) };
      await assert.rejects(call('extract', { format: 'tar', bytes: await writeTar(files) }), refused);
      await assert.rejects(call('create', { format: 'tar', entries: files }), refused);
    }
    const link = await writeTar([{ path: 'secret', bytes: bytes('') }]);
    link.write('2', 156);
    withSum(link.subarray(0, 512)).copy(link);
    await assert.rejects(call('extract', { format: 'tar', bytes: link }), {
      code: 'path_outside_sandbox',
      message: /"secret" of the archive is a link\. Use another/,
    });
  });

  test('are absent without a converter, and never in the discovery document', async () => {
    const { callGate } = world();
    const { fs } = callGate.discovery() as { fs: object };
    assert.deepEqual(Object.keys(fs).sort(), [
      'image',
      'maxFileSizeBytes',
      'pdf',
      'sandboxRoot',
      'supported',
    ]);
    assert.deepEqual(publicValidator('capabilities.schema.json#/properties/fs')?.(fs) ?? [], []);
    assert.equal(callGate.capabilities().has('host.fs.archive'), true);
    const without = world(NO_CONVERTER);
    assert.equal(without.callGate.capabilities().has('host.fs.archive'), false);
    await assert.rejects(without.call('create', { format: 'zip', entries }), {
      code: 'host_capability_missing',
      details: { capability: 'host.fs.archive.create' },
    });
  });
});

describe('bounds', () => {
  test('an archive and what is in it are as large as a file, in base64 as large as text', async () => {
    const { call } = world();
    const half = new Uint8Array(FILE_BYTES_MAX / 2).fill(1);
    const two = ['a', 'b'].map((path) => ({ path, bytes: half }));
    const tooLarge = { code: 'file_too_large' };
    await assert.rejects(call('create', { format: 'zip', entries: two }), tooLarge);
    const three = [...two, { path: 'c', bytes: bytes('x') }];
    await assert.rejects(call('create', { format: 'zip', entries: three }), tooLarge);
    const text = Buffer.alloc(TEXT_BYTES_MAX, 1).toString('base64');
    const one = [{ path: 'a', contentBase64: text }];
    await assert.rejects(call('create', { format: 'tar', entries: one }), { ...tooLarge, message: /base64/ });
    const large = await writeTar([{ path: 'a', bytes: half }]);
    randomFillSync(large, 512, 1_000_000);
    const contentBase64 = gzipSync(large, { level: 1 }).toString('base64');
    await assert.rejects(call('extract', { format: 'tar-gz', contentBase64 }), {
      ...tooLarge,
      message: /base64/,
    });
  });

  test('what is no archive at all is refused before anything is read', async () => {
    const { call } = world({ lacks: [], run: () => Promise.reject(new OpenwopError('internal_error')) });
    const many = Array.from({ length: 2_001 }, (_, index) => ({ path: `f${index}`, bytes: bytes('') }));
    for (const input of [
      { format: 'rar', entries },
      { format: 'zip', entries: many },
      { format: 'zip', entries: [{ path: 'a' }] },
      { format: 'zip', entries: [{ path: 'a', contentBase64: 1 }] },
      { format: 'zip', entries: [{ path: 'a', contentBase64: 'a b' }] },
      { format: 'zip', entries: 'a' },
      { format: 'zip' },
    ])
      await assert.rejects(call('create', input as Data), { code: 'validation_error' });
    for (const input of [{ format: 'zip' }, { format: 'zip', bytes: 'x' }, { bytes: bytes('') }])
      await assert.rejects(call('extract', input), { code: /validation_error|host_capability_missing/ });
  });

  test('a converter that answers anything is not believed', async () => {
    for (const value of [{ files: ['../a'], folders: [] }, { files: [], folders: [] }, null, 'x']) {
      const run = async () => ({ value, parts: [bytes('x')] });
      const { call } = world({ lacks: [], run });
      await assert.rejects(call('extract', { format: 'zip', bytes: bytes('x') }), {
        code: /path_outside_sandbox|internal_error/,
      });
    }
  });
});
