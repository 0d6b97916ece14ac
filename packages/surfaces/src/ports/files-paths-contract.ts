/** Which paths and prefixes every backend of the files port takes: I1. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freshTenant, read, write } from '../testing/calls.ts';
import { at, range, textAt, textOf } from '../testing/files-calls.ts';
import { INSIDE, OUTSIDE, ROOT } from '../testing/files-paths.ts';
import type { FilesPort } from './files.ts';

export function pathsContract(port: () => FilesPort): void {
  test(`I1: ${OUTSIDE.length} paths that are not plain are refused by every method`, async () => {
    const tenant = freshTenant();
    const refused = { code: 'path_outside_sandbox' };
    for (const path of OUTSIDE) {
      await assert.rejects(port().read(at(path), read(tenant)), refused, JSON.stringify(path));
      await assert.rejects(port().stat(at(path), read(tenant)), refused, JSON.stringify(path));
      await assert.rejects(port().write(textAt(path, 'x'), write(tenant)), refused, JSON.stringify(path));
      await assert.rejects(port().delete(at(path), write(tenant)), refused, JSON.stringify(path));
    }
    assert.deepEqual(await port().list(range(), read(tenant)), []);
  });

  test('I1: prefixes that climb are refused', async () => {
    const absolute = [
      '/',
      '/etc',
      '/workspac',
      '/workspaces/',
      '/workspace/..',
      '/workspace/../a',
      '//workspace/',
    ];
    for (const prefix of [...absolute, '..', '../', 'a/../..', 'a/../../b', 'a\\..\\', 'a\0', '~/', 'c:/'])
      await assert.rejects(
        port().list(range({ prefix }), read('t')),
        { code: 'path_outside_sandbox' },
        prefix,
      );
  });

  test('a prefix is the beginning of names, and need not be one', async () => {
    const tenant = freshTenant();
    const kept = ['.env', 'config.json', 'd/~x', 'my file', 'null', 'report.csv', 'ä'];
    for (const path of kept) await port().write(textAt(path, 'x'), write(tenant));
    const prefixes = [
      'con',
      'nul',
      'report.',
      'my ',
      '.',
      'd/',
      'd/~',
      'd/c',
      './con',
      'd/../con',
      'com1',
      '...',
      ' ',
    ];
    for (const prefix of prefixes) {
      const found = await port().list(range({ prefix }), read(tenant));
      const meant = prefix.replace(/^(\.\/|d\/\.\.\/)/, '');
      assert.deepEqual(
        found.map(({ path }) => path),
        kept.filter((path) => path.startsWith(meant)),
        prefix,
      );
    }
    for (const prefix of ['d/..', 'a'.repeat(256), 'con/', 'report./', 'a:', 'a\u202e', '\ud800'])
      await assert.rejects(port().list(range({ prefix }), read(tenant)), { code: 'path_outside_sandbox' });
  });

  test('prefixes may begin with the advertised root', async () => {
    const tenant = freshTenant();
    await port().write(textAt('d/f', 'x'), write(tenant));
    const listed = async (prefix: string) =>
      (await port().list(range({ prefix }), read(tenant))).map(({ path }) => path);
    for (const prefix of ['/workspace', '/workspace/', '/workspace/d', '/workspace/d/', '/workspace/d/f'])
      assert.deepEqual(await listed(prefix), ['d/f'], prefix);
    assert.deepEqual(await listed('/workspace/e'), []);
  });

  test('plain paths are kept as they are meant', async () => {
    await Promise.all(
      INSIDE.map(async ([path, plain]) => {
        const tenant = freshTenant();
        assert.equal((await port().write(textAt(path, path), write(tenant))).path, plain, path);
        assert.equal(textOf(await port().read(at(plain), read(tenant))), path);
        assert.deepEqual(await port().delete(at(path), write(tenant)), { deleted: true });
        assert.deepEqual(await port().list(range(), read(tenant)), []);
      }),
    );
  });

  test('the root is a folder, before and after there are files', async () => {
    const tenant = freshTenant();
    const refused = { code: 'path_outside_sandbox' };
    for (const _ of ['before', 'after']) {
      for (const path of ROOT) {
        const { modifiedAt, ...facts } = await port().stat(at(path), read(tenant));
        assert.deepEqual(facts, { sizeBytes: 0, contentType: null, isDirectory: true }, path);
        assert.equal(modifiedAt, (await port().stat(at('.'), read(tenant))).modifiedAt);
        await assert.rejects(port().read(at(path), read(tenant)), refused, path);
        await assert.rejects(port().write(textAt(path, 'x'), write(tenant)), refused, path);
        await assert.rejects(port().delete(at(path), write(tenant)), refused, path);
      }
      await port().write(textAt('f', 'x'), write(tenant));
    }
  });
}
