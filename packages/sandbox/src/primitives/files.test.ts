/** What the folder of a pack may hold, however it is filled. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { scratchFolder } from '../testing/sandbox.ts';
import { FILE_BYTES_MAX, fileOperation } from './files.ts';

const FILES_MAX = (256 * 1024 * 1024) / FILE_BYTES_MAX;
const full = { code: 'file_too_large', message: /folder of the pack is full/ };
/** Of zeros: sparse where it lies, so that a full folder costs no disk. */
const large = new Uint8Array(FILE_BYTES_MAX);

const caller = { tenant: 'acme', signal: new AbortController().signal, isBlocking: false };

const folder = async () => {
  const root = path.join(await scratchFolder(), 'files');
  return {
    root,
    ask: (method: string, ...args: (string | Uint8Array)[]) => fileOperation(root, method, args, caller),
  };
};

async function sizes(root: string): Promise<number> {
  const all = await Promise.all((await readdir(root)).map((name) => stat(path.join(root, name))));
  return all.reduce((sum, { size }) => sum + size, 0);
}

test('writes at the same time, appends and copies fill the folder and no more', async () => {
  const { root, ask } = await folder();
  const writes = Array.from({ length: FILES_MAX }, (_, index) =>
    index % 2 ? ask('writeFile', `w${index}`, large) : ask('appendFile', `w${index}`, large),
  );
  await Promise.all(writes);
  const late = [ask('writeFile', 'late', large), ask('copyFile', 'w0', 'late'), ask('appendFile', 'w0', 'x')];
  await Promise.all(late.map((one) => assert.rejects(one, full)));
  assert.equal(await sizes(root), FILES_MAX * FILE_BYTES_MAX);
  await ask('writeFile', 'w0', 'small');
  await ask('copyFile', 'w0', 'w1');
  await ask('copyFile', 'w2', 'w0');
  await assert.rejects(ask('copyFile', 'w2', 'more'), full);
  await ask('rm', 'w2');
  await ask('copyFile', 'w0', 'more');
});

test('files and folders together are counted', async () => {
  const { root, ask } = await folder();
  mkdirSync(root);
  for (let index = 0; index < 9_997; index++) mkdirSync(path.join(root, `d${index}`));
  await ask('mkdir', 'last');
  await assert.rejects(fileOperation(root, 'mkdir', ['deep/er/still', { recursive: true }], caller), full);
  await fileOperation(root, 'mkdir', ['deep/er', { recursive: true }], caller);
  const late = [ask('mkdir', 'more'), ask('writeFile', 'more', ''), ask('copyFile', 'd0', 'more')];
  await Promise.all(late.map((one) => assert.rejects(one, full)));
  await assert.rejects(ask('mkdir', 'last'), { code: 'EEXIST' });
  await ask('rename', 'last', 'renamed');
  await fileOperation(root, 'rm', ['renamed', { recursive: true }], caller);
  await ask('writeFile', 'more', 'x');
  await ask('writeFile', 'more', 'y');
  await assert.rejects(ask('writeFile', 'another', 'x'), full);
});

test('no folder is moved to where its paths are too long to be deleted', async () => {
  const { root, ask } = await folder();
  const deep = `${'d'.repeat(200)}/`.repeat(15);
  const made = async (name: string) =>
    fileOperation(root, 'mkdir', [`${name}/${deep}`, { recursive: true }], caller);
  await made('one');
  await made('two');
  await assert.rejects(ask('rename', 'one', `two/${deep}one`), { code: 'ENAMETOOLONG' });
  await ask('rename', 'one', 'two/one');
  await fileOperation(root, 'rm', ['two', { recursive: true }], caller);
  assert.deepEqual(await readdir(root), []);
});

test('what fails tells the path of the pack and nothing of the host', async () => {
  const { root, ask } = await folder();
  await assert.rejects(ask('readFile', 'none'), { code: 'ENOENT', message: "ENOENT: open 'none'" });
  await assert.rejects(ask('copyFile', 'none', 'other'), (error: Error) => !error.message.includes(root));
  await assert.rejects(ask('stat', 'x/'.repeat(5_000)), { code: 'ENAMETOOLONG' });
});

test('contents that children have not taken are bounded, for each tenant and in all', async () => {
  const { root, ask } = await folder();
  await ask('writeFile', 'large', large);
  /** What was read, in whatever order that happened: aborting it says that the child has it. */
  const read: AbortController[] = [];
  let onRead = Promise.withResolvers<void>();
  const readAs = async (tenant: string, isBlocking = false): Promise<AbortController> => {
    const controller = new AbortController();
    await fileOperation(root, 'readFile', ['large'], { tenant, signal: controller.signal, isBlocking });
    return controller;
  };
  const until = async (count: number): Promise<void> => {
    while (read.length < count) {
      await onRead.promise;
      onRead = Promise.withResolvers();
    }
  };
  const many = Array.from({ length: 40 }, async () => {
    read.push(await readAs('a'));
    onRead.resolve();
  });
  await until(8);
  await Promise.all([readAs('b'), readAs('a', true)]);
  assert.equal(read.length, 8);
  for (let taken = 0; taken < 40; taken++) {
    await until(taken + 1);
    assert.ok(read.length <= taken + 8);
    read[taken]?.abort();
  }
  await Promise.all(many);
});
