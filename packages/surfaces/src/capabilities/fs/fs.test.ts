/** `ctx.fs` as packs call it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import sharp from 'sharp';
import { createCursors } from '../../calls/cursor.ts';
import type { Data, DataObject } from '../../calls/data.ts';
import { FILE_BYTES_MAX } from '../../ports/files.ts';
import { openEmbeddedDatabase } from '../../sqlite/database.ts';
import { write } from '../../testing/calls.ts';
import { freshFolder } from '../../testing/data-dir.ts';
import { NO_CONVERTER } from '../../testing/no-converter.ts';
import { callGateOf, nodeOf } from '../../testing/test-call-gate.ts';
import { openConverter } from './convert/converter.ts';
import { openFiles } from './files/open-files.ts';
import { implementFs } from './surface.ts';

const bytes = (text: string) => new Uint8Array(Buffer.from(text));

async function world(t: { after(end: () => unknown): void }, converter = NO_CONVERTER) {
  const folder = freshFolder();
  const database = await openEmbeddedDatabase({ dataDir: folder.path });
  const port = await openFiles({ database, dataDir: folder.path, quotaBytes: 1e8, now: Date.now });
  t.after(async () => {
    await database.close();
    folder.remove();
  });
  const cursors = createCursors(new Uint8Array(32).fill(7));
  const callGate = callGateOf([implementFs({ port, cursors, converter })]);
  let nodes = 0;
  const call = (method: string, input: Data, who: { tenant?: string; workspace?: string } = {}) =>
    nodeOf(callGate, { ...who, nodeId: `n${nodes++}` })(`fs.${method}`, input);
  return { ...callGate, call, port };
}

describe('fs', () => {
  test('files of the default workspace that were written before it had a name are still read', async (t) => {
    const { call, port } = await world(t);
    const old = { workspace: '', path: 'a', mode: 'overwrite', contentType: 'text/x' } as const;
    await port.write({ ...old, bytes: bytes('old') }, write('acme'));
    const read = await call('read', { path: 'a' }, { workspace: 'default' });
    assert.deepEqual(Object(read).bytes, bytes('old'));
    assert.equal(Object(read).contentType, 'text/x');
    assert.deepEqual(await call('list', {}, { workspace: 'default' }), {
      entries: [{ path: 'a', sizeBytes: 3 }],
    });
  });

  test('every method of the contract, with its answers', async (t) => {
    const { call } = await world(t);
    assert.deepEqual(await call('write', { path: 'a/b.json', bytes: bytes('{}') }), {
      path: 'a/b.json',
      sizeBytes: 2,
    });
    assert.deepEqual(await call('read', { path: './a/b.json' }), {
      bytes: bytes('{}'),
      contentType: 'application/json',
      content: 'e30=',
      size: 2,
    });
    const { modifiedAt, mtime, ...facts } = (await call('stat', { path: 'a/b.json' })) as {
      [name: string]: Data;
    };
    assert.equal(modifiedAt, mtime);
    assert.deepEqual(facts, {
      sizeBytes: 2,
      size: 2,
      exists: true,
      isDirectory: false,
      contentType: 'application/json',
    });
    assert.deepEqual(await call('list', { prefix: 'a' }), { entries: [{ path: 'a/b.json', sizeBytes: 2 }] });
    assert.deepEqual(await call('delete', { path: 'a/b.json' }), { deleted: true });
    await assert.rejects(call('read', { path: 'a/b.json' }), { code: 'file_not_found' });
    await assert.rejects(call('read', { path: '../../etc/passwd' }), { code: 'path_outside_sandbox' });
    await assert.rejects(call('write', { path: 'a', bytes: new Uint8Array(FILE_BYTES_MAX + 1) }), {
      code: 'file_too_large',
    });
  });

  test('the spellings of published packs', async (t) => {
    const { call } = await world(t);
    const text = { encoding: 'utf8', content: 'héllo' };
    assert.deepEqual(await call('write', { path: 'd/a', ...text }), { path: 'd/a', sizeBytes: 6, bytes: 6 });
    await call('write', { path: 'd/a', content: 'IQ==', mode: 'append' });
    await assert.rejects(call('write', { path: 'd/a', ...text, mode: 'create-only' }), {
      code: 'fs_permission_denied',
    });
    const read = (await call('read', { path: 'd/a', encoding: 'utf8' })) as { content: string; size: number };
    assert.deepEqual([read.content, read.size], ['héllo!', 7]);
    for (const path of ['d/e/f', 'd/.g', 'dx']) await call('write', { path, content: '' });
    const d = { path: 'd/a', sizeBytes: 7 };
    assert.deepEqual(await call('list', { path: 'd' }), {
      entries: [d, { path: 'd/e', sizeBytes: 0, isDirectory: true }],
    });
    assert.deepEqual(await call('list', { path: 'd', recursive: true, includeHidden: true }), {
      entries: [{ path: 'd/.g', sizeBytes: 0 }, d, { path: 'd/e/f', sizeBytes: 0 }],
    });
  });

  test('cursors walk every file once, and are refused to other tenants, workspaces and listings', async (t) => {
    const { call } = await world(t);
    for (const path of ['a/1', 'a/2', 'b']) await call('write', { path, bytes: bytes('x') });
    type Page = { entries: { path: string }[]; nextCursor?: string };
    const { entries, nextCursor } = (await call('list', { limit: 2 })) as Page;
    assert.deepEqual(
      entries.map(({ path }) => path),
      ['a/1', 'a/2'],
    );
    assert.ok(nextCursor);
    const rest = (await call('list', { limit: 2, cursor: nextCursor })) as Page;
    assert.deepEqual(rest, { entries: [{ path: 'b', sizeBytes: 1 }] });
    const refused = { code: 'validation_error', message: /cursor/ };
    await assert.rejects(call('list', { cursor: nextCursor }, { tenant: 'other' }), refused);
    await assert.rejects(call('list', { cursor: nextCursor }, { workspace: 'other' }), refused);
    await assert.rejects(call('list', { cursor: nextCursor, prefix: 'a' }), refused);
    assert.deepEqual(await call('list', {}, { workspace: 'other' }), { entries: [] });
  });

  test('text is written as its encoding says, and what is none is refused', async (t) => {
    const { call } = await world(t);
    for (const encoding of ['utf8', 'utf-8']) {
      await call('write', { path: 'a', content: 'hello world!', encoding });
      assert.equal(((await call('stat', { path: 'a' })) as { size: number }).size, 12);
    }
    const orPlain = /`content` is not base64\..* Or say `encoding: 'utf8'` for plain text\.$/;
    const wrongs: [DataObject, RegExp][] = [
      [{ encoding: 'latin1' }, /Use utf8, utf-8, base64, or give `bytes`/],
      [{ encoding: 'base64' }, orPlain],
      [{}, orPlain],
    ];
    for (const [wrong, message] of wrongs)
      await assert.rejects(call('write', { path: 'a', content: 'hello world!', ...wrong }), {
        code: 'validation_error',
        message,
      });
    const { entries } = (await call('list', { limit: 5_000 })) as { entries: readonly Data[] };
    assert.equal(entries.length, 1);
  });

  test('a node that runs again appends once', async (t) => {
    const { callGate } = await world(t);
    const again = () => nodeOf({ callGate, reports: [], clock: { now: 0 } }, { nodeId: 'same' });
    for (let run = 0; run < 3; run++) {
      await again()('fs.write', { path: 'log', content: 'eA==', mode: 'append' });
      assert.equal(((await again()('fs.stat', { path: 'log' })) as { size: number }).size, 1);
    }
  });
});

describe('images and PDF files', () => {
  test('are offered where their libraries are', async (t) => {
    const converter = openConverter();
    const { call, callGate } = await world(t, converter);
    assert.deepEqual(callGate.discovery().fs, {
      supported: true,
      sandboxRoot: '/workspace',
      maxFileSizeBytes: FILE_BYTES_MAX,
      image: { supported: true, formats: ['jpeg', 'png', 'webp', 'avif'] },
      pdf: { supported: true },
    });
    const picture = sharp({ create: { width: 40, height: 20, channels: 3, background: '#000' } });
    const contentBase64 = (await picture.png().toBuffer()).toString('base64');
    const small = (await call('image.resize', { contentBase64, width: 10 })) as { [name: string]: Data };
    assert.deepEqual([small.width, small.height, small.contentType], [10, 5, 'image/png']);
    assert.equal('bytes' in small, false);
    const again = { contentBase64: small.contentBase64!, to: 'webp' };
    assert.equal(
      ((await call('image.formatConvert', again)) as { contentType: string }).contentType,
      'image/webp',
    );
    await assert.rejects(call('pdf.extractText', { contentBase64 }), { code: 'validation_error' });
    for (const width of [0, 8_193, 1.5])
      await assert.rejects(call('image.resize', { contentBase64, width }), { code: 'validation_error' });
  });

  test('are absent, and not advertised, where they do not', async (t) => {
    const { call, callGate } = await world(t);
    assert.deepEqual(Object.keys(callGate.discovery().fs as object), [
      'supported',
      'maxFileSizeBytes',
      'sandboxRoot',
    ]);
    assert.deepEqual(
      Object.keys(callGate.table).filter((path) => /image|pdf/.test(path)),
      [],
    );
    await assert.rejects(call('pdf.merge', { parts: [] }), {
      code: 'host_capability_missing',
      details: { capability: 'host.fs.pdf.merge' },
    });
    assert.equal(callGate.capabilities().has('fs.image'), false);
    assert.equal(callGate.capabilities().has('host.fs'), true);
  });
});
