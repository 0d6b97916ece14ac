import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainEntries } from './names.ts';

const judge = (files: readonly string[], folders: readonly string[] = []) => plainEntries({ files, folders });

test('plain names stay as they are, in their order', async () => {
  assert.deepEqual(await judge(['b/c', 'a', 'b/d.txt'], ['b/', './', '.', 'e/f/']), ['b/c', 'a', 'b/d.txt']);
  assert.deepEqual(await judge(['./a', './/b/./c']), ['a', 'b/c']);
});

const OUTSIDE = [
  '/etc/passwd',
  '/workspace/a',
  '//a',
  '../a',
  'a/../b',
  'a/..',
  '..',
  '~/a',
  'C:\\a',
  'a\\..\\b',
  'a:b',
  'con',
  'a/nul.txt',
  'a\0b',
  'a\nb',
  'x\u202efdp.exe',
  ' a',
  'a.',
  'a /b',
  '',
  './',
  '.',
  'a/\ud800',
  'x'.repeat(256),
  'a/'.repeat(40),
  `${'y'.repeat(200)}/`.repeat(6),
];

test('every other is refused with its name', async () => {
  for (const path of OUTSIDE)
    await assert.rejects(judge(['fine', path]), (error: { code: string; message: string }) => {
      assert.equal(error.code, 'path_outside_sandbox', path);
      assert.ok(error.message.includes(JSON.stringify(path.slice(0, 200))), error.message);
      return true;
    });
  for (const folder of ['../', '/a/', 'a/../../b/'])
    await assert.rejects(judge([], [folder]), { code: 'path_outside_sandbox' });
});

test('a name that comes twice is refused, also as file and folder', async () => {
  for (const [files, folders] of [
    [['a', 'a']],
    [['a/b', './a//b']],
    [['a', 'a/b']],
    [['a/b', 'a']],
    [['a/b/c', 'a/b']],
    [['a'], ['a/']],
    [['a'], ['a/b/']],
  ] as const)
    await assert.rejects(judge(files, folders), {
      code: 'validation_error',
      message: /more than one entry for "\.?\/?a/,
    });
});
