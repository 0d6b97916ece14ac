/** What every backend of the files port must do, through the port: I1 to I3. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { freshTenant, read, write } from '../testing/calls.ts';
import { at, range, textAt, textOf } from '../testing/files-calls.ts';
import { FILE_BYTES_MAX, type FileRange, type FilesPort, NAME_BYTES, type WriteMode } from './files.ts';
import { pathsContract } from './files-paths-contract.ts';

export interface OpenedFiles {
  readonly port: FilesPort;
  close(): Promise<void>;
}

type Port = () => FilesPort;
/** For three files of the largest size. */
export const FILES_CONTRACT_QUOTA = 3 * (FILE_BYTES_MAX + NAME_BYTES);

/** `open` makes a port with room for `FILES_CONTRACT_QUOTA` bytes for each tenant. Every test is a tenant of its own. */
export function filesContract(name: string, open: () => Promise<OpenedFiles>): void {
  describe(`files port: ${name}`, () => {
    let opened: OpenedFiles | null = null;
    const port: Port = () => opened?.port ?? assert.fail('the port is not open');
    before(async () => {
      opened = await open();
    });
    after(() => opened?.close());
    files(port);
    pathsContract(port);
    isolation(port);
    listing(port);
    once(port);
    limits(port);
  });
}

function files(port: Port): void {
  test('writes, reads, replaces, appends, looks and deletes', async () => {
    const tenant = freshTenant();
    await assert.rejects(port().read(at('a/b.txt'), read(tenant)), { code: 'file_not_found' });
    assert.deepEqual(await port().write(textAt('a/./c/../b.txt', 'one'), write(tenant)), {
      path: 'a/b.txt',
      sizeBytes: 3,
    });
    assert.deepEqual(await port().read(at('a/b.txt'), read(tenant)), {
      bytes: new Uint8Array(Buffer.from('one')),
      contentType: 'text/plain',
    });
    await port().write({ ...textAt('a/b.txt', 'two'), contentType: 'text/csv' }, write(tenant));
    await port().write(textAt('a/b.txt', '+', 'append'), write(tenant));
    assert.equal(textOf(await port().read(at('a//b.txt'), read(tenant))), 'two+');
    const facts = await port().stat(at('a/b.txt'), read(tenant));
    assert.deepEqual([facts.sizeBytes, facts.isDirectory], [4, false]);
    assert.ok(Math.abs(facts.modifiedAt - Date.now()) < 60_000);
    assert.equal((await port().stat(at('a'), read(tenant))).isDirectory, true);
    const create = textAt('a/b.txt', 'three', 'create-only');
    await assert.rejects(port().write(create, write(tenant)), { code: 'fs_permission_denied' });
    await port().write({ ...create, path: 'n' }, write(tenant));
    assert.deepEqual(await port().delete(at('a/b.txt'), write(tenant)), { deleted: true });
    assert.deepEqual(await port().delete(at('a/b.txt'), write(tenant)), { deleted: false });
    await assert.rejects(port().stat(at('a'), read(tenant)), { code: 'file_not_found' });
  });

  test('a folder is no file, and a file no folder', async () => {
    const tenant = freshTenant();
    await port().write(textAt('d/f', 'x'), write(tenant));
    const denied = { code: 'fs_permission_denied' };
    await assert.rejects(port().read(at('d'), read(tenant)), denied);
    await assert.rejects(port().write(textAt('d', 'x'), write(tenant)), denied);
    await assert.rejects(port().delete(at('d'), write(tenant)), denied);
    await assert.rejects(port().write(textAt('d/f/g', 'x'), write(tenant)), denied);
    for (const path of ['d/f/g', 'd/f/g/h']) {
      await assert.rejects(port().read(at(path), read(tenant)), { code: 'file_not_found' });
      await assert.rejects(port().stat(at(path), read(tenant)), { code: 'file_not_found' });
      assert.deepEqual(await port().delete(at(path), write(tenant)), { deleted: false });
    }
    assert.deepEqual(await port().list(range({ prefix: 'd/f/' }), read(tenant)), []);
    assert.equal(textOf(await port().read(at('d/f'), read(tenant))), 'x');
  });

  test('I2: whoever reads while others write sees one of the writes; appends are all kept', async () => {
    const tenant = freshTenant();
    const version = (index: number) => String(index).repeat(20_000);
    await port().write(textAt('f', version(0)), write(tenant));
    const writes = [1, 2, 3, 4].map((index) => port().write(textAt('f', version(index)), write(tenant)));
    const reads = await Promise.all([0, 1, 2, 3].map(() => port().read(at('f'), read(tenant))));
    for (const text of reads.map(textOf)) assert.equal(text, version(Number(text[0])));
    await Promise.all(writes);
    await Promise.all(
      [...'abcdefgh'].map((letter) => port().write(textAt('log', letter, 'append'), write(tenant))),
    );
    assert.equal([...textOf(await port().read(at('log'), read(tenant)))].sort().join(''), 'abcdefgh');
  });
}

function isolation(port: Port): void {
  test('I1: tenants and workspaces share nothing, whatever the path', async () => {
    const [ours, theirs] = [freshTenant(), freshTenant()];
    await port().write(textAt('f', 'ours'), write(ours));
    for (const [tenant, workspace] of [
      [theirs, 'main'],
      [ours, 'other'],
      [ours, 'main/'],
      [`${ours}/main`, ''],
    ] as const) {
      await assert.rejects(port().read(at('f', workspace), read(tenant)), { code: 'file_not_found' });
      await assert.rejects(port().stat(at('f', workspace), read(tenant)), { code: 'file_not_found' });
      assert.deepEqual(await port().delete(at('f', workspace), write(tenant)), { deleted: false });
      assert.deepEqual(await port().list(range({ workspace }), read(tenant)), []);
    }
    await port().write(textAt('f', 'theirs'), write(theirs));
    assert.equal(textOf(await port().read(at('f'), read(ours))), 'ours');
  });
}

const NAMES = ['a', 'a-b', 'a.txt', 'b', '.hidden', 'é', 'Z', '_', '🙂', '%2e'] as const;

function listing(port: Port): void {
  test('any tree is listed in byte order, page by page, by any prefix', async () => {
    const name = fc.constantFrom(...NAMES);
    const trees = fc.uniqueArray(fc.array(name, { minLength: 1, maxLength: 3 }), {
      selector: (names) => names.join('/'),
      minLength: 1,
      maxLength: 6,
    });
    const property = fc.asyncProperty(trees, fc.integer({ min: 1, max: 4 }), async (tree, limit) => {
      const tenant = freshTenant();
      const wanted = tree.map((names) => names.join('/'));
      const kept: string[] = [];
      for (const path of wanted)
        await port()
          .write(textAt(path, path), write(tenant))
          .then(
            () => kept.push(path),
            ({ code }) => assert.equal(code, 'fs_permission_denied', 'a folder is where a file was wanted'),
          );
      kept.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      const listed = (more: Partial<FileRange>) => walked(port(), tenant, { ...more, limit });
      assert.deepEqual(await listed({}), kept);
      for (const prefix of ['a', 'a/', 'a-', 'b/a', 'nothing'])
        assert.deepEqual(
          await listed({ prefix }),
          kept.filter((path) => path.startsWith(prefix)),
          prefix,
        );
      const flat = new Set(kept.map((path) => (path.includes('/') ? `${path.split('/')[0]}/` : path)));
      assert.deepEqual(
        (await listed({ recursive: false, hidden: false })).toSorted(),
        [...flat].filter((path) => !path.startsWith('.')).toSorted(),
      );
    });
    await fc.assert(property, { numRuns: 8 });
  });
}

async function walked(port: FilesPort, tenant: string, more: Partial<FileRange> & { limit: number }) {
  const seen: string[] = [];
  for (let after: string | null = null; ; after = seen.at(-1)!) {
    const page: { path: string }[] = await port.list(range({ ...more, after }), read(tenant));
    seen.push(...page.map(({ path }) => path));
    if (page.length < more.limit) return seen;
  }
}

function once(port: Port): void {
  test('I3: the same invocation again changes nothing and gets the first answer', async () => {
    const tenant = freshTenant();
    const [append, create, remove] = ['append', 'create', 'remove'].map((id) => ({ id }));
    for (const _ of [1, 2]) {
      assert.equal((await port().write(textAt('log', 'x', 'append'), write(tenant, append))).sizeBytes, 1);
      await port().write(textAt('new', 'x', 'create-only'), write(tenant, create));
    }
    for (const _ of [1, 2])
      assert.deepEqual(await port().delete(at('new'), write(tenant, remove)), { deleted: true });
    assert.equal(textOf(await port().read(at('log'), read(tenant))), 'x');
    const both = [1, 2].map(() => port().write(textAt('log', 'y', 'append'), write(tenant, { id: 'both' })));
    await Promise.all(both);
    assert.equal(textOf(await port().read(at('log'), read(tenant))), 'xy');
    const otherInput = write(tenant, { ...append, input: 'another' });
    assert.equal((await port().write(textAt('log', 'zz', 'append'), otherInput)).sizeBytes, 1);
    assert.equal(textOf(await port().read(at('log'), read(tenant))), 'xy');
    const other = write(tenant, { ...append, method: 'fs.delete' });
    await assert.rejects(port().write(textAt('log', 'z'), other), { code: 'idempotency_key_mismatch' });
  });
}

function limits(port: Port): void {
  test('files and tenants have their size', async () => {
    const tenant = freshTenant();
    const file = (path: string, bytes: number, mode: WriteMode = 'overwrite') => ({
      ...textAt(path, '', mode),
      bytes: new Uint8Array(bytes),
    });
    await assert.rejects(port().write(file('a', FILE_BYTES_MAX + 1), write(tenant)), {
      code: 'file_too_large',
    });
    for (const path of ['a', 'b', 'c']) await port().write(file(path, FILE_BYTES_MAX), write(tenant));
    await assert.rejects(port().write(file('a', 1, 'append'), write(tenant)), { code: 'file_too_large' });
    await assert.rejects(port().write(file('d', 1), write(tenant)), { code: 'fs_quota_exhausted' });
    await port().write(file('a', 1), write(tenant));
    await port().write(file('d', 1), write(tenant));
    await port().delete(at('b'), write(tenant));
    await port().write(file('e', FILE_BYTES_MAX), write(tenant));
  });
}
