import { attempt, type Escape, refused, stopped } from './escape.ts';

const fs = stopped('host-fs-escape');
const FILES = ['fs.read', 'fs.write'] as const;
const imported = `const fs = await import('node:fs');`;

/** Files of the host: by path, link, database, import and special file. */
export const FILE_ESCAPES: readonly Escape[] = [
  { name: 'fs without a grant', body: `await import('node:fs')`, expected: refused },
  { name: 'fs when loading', before: `import 'node:fs';`, body: '', expected: refused },
  { name: 'fs/promises without a grant', body: `await import('fs/promises')`, expected: refused },
  {
    name: 'an absolute path',
    body: `${imported} fs.readFileSync('/etc/passwd')`,
    grants: FILES,
    expected: fs,
  },
  { name: 'a path with dots', body: `${imported} fs.readFileSync('a/../../b')`, grants: FILES, expected: fs },
  {
    name: 'dots with promises',
    body: `${imported} await fs.promises.readFile('../x')`,
    grants: FILES,
    expected: fs,
  },
  {
    name: 'writing outside',
    body: `${imported} fs.writeFileSync('/pack/index.mjs', 'x')`,
    grants: FILES,
    expected: fs,
  },
  {
    name: 'renaming outside',
    body: `${imported} fs.writeFileSync('a', 'x'); fs.renameSync('a', '../b')`,
    grants: FILES,
    expected: fs,
  },
  {
    name: 'copying from /proc',
    body: `${imported} fs.copyFileSync('/proc/self/environ', 'x')`,
    grants: FILES,
    expected: fs,
  },
  {
    name: 'removing the folder itself',
    body: `${imported} fs.rmSync('.', { recursive: true })`,
    grants: FILES,
    expected: fs,
  },
  {
    name: 'a path with a null byte',
    body: `${imported} fs.readFileSync('a\\0b')`,
    grants: FILES,
    expected: fs,
  },
  {
    name: 'a descriptor instead of a path',
    body: attempt(`${imported} fs.writeFileSync(4, 'x')`),
    grants: FILES,
    expected: 'contained',
  },
  {
    name: 'a URL instead of a path',
    body: attempt(`${imported} fs.readFileSync(new URL('file:///etc/passwd'))`),
    grants: FILES,
    expected: 'contained',
  },
  {
    name: 'making a link',
    body: attempt(`${imported} fs.symlinkSync('/etc', 'x')`),
    grants: FILES,
    expected: 'contained',
  },
  {
    name: 'opening a descriptor',
    body: attempt(`${imported} fs.openSync('x', 'w')`),
    grants: FILES,
    expected: 'contained',
  },
  {
    name: 'writing with only fs.read',
    body: `${imported} fs.writeFileSync('a', 'x')`,
    grants: ['fs.read'],
    expected: refused,
  },
  { name: 'sqlite open', body: `await import('node:sqlite')`, expected: fs },
  {
    name: 'sqlite when loading',
    before: `import { DatabaseSync } from 'node:sqlite';`,
    body: `new DatabaseSync('/x').exec("ATTACH '/y' AS y; VACUUM INTO '/z'")`,
    expected: fs,
  },
  { name: 'sqlite by getBuiltinModule', body: `process.getBuiltinModule('node:sqlite')`, expected: fs },
  { name: 'import of a host path', body: `await import('/etc/passwd')`, expected: fs },
  { name: 'import of a file URL', body: `await import('file:///etc/passwd')`, expected: fs },
  { name: 'import above the pack', body: `await import('../runner/main.mjs')`, expected: fs },
  { name: 'static import of the runner', before: `import '/runner/channel.mjs';`, body: '', expected: fs },
  { name: 'import of /proc', body: `await import('/proc/self/environ')`, expected: fs },
  {
    name: 'import of JSON outside',
    body: `await import('/etc/os-release', { with: { type: 'json' } })`,
    expected: fs,
  },
];
