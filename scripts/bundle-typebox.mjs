// TypeBox is 540 small files: a quarter of what a server does to start, and 10 MiB. This makes a few large files of
// them, once for each version, with the module that servers, the CLI and tests load to import those instead
// (`use-typebox-bundle.mjs`). Without them everything works as it is installed, only slower.
// Runs on any Node from 18 on.
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const modules = path.join(here, '../node_modules');
const source = path.join(modules, 'typebox');
const cache = path.join(modules, '.cache');
const folder = path.join(cache, 'typebox');
const ENTRIES = ['index', 'error/index', 'format/index', 'schema/index', 'system/index'];

async function bundle() {
  mkdirSync(cache, { recursive: true });
  const made = mkdtempSync(`${folder}-`);
  try {
    const { build } = await import('esbuild');
    await build({
      entryPoints: ENTRIES.map((file) => path.join(source, 'build', `${file}.mjs`)),
      outdir: made,
      outExtension: { '.js': '.mjs' },
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      logLevel: 'silent',
    });
    copyFileSync(path.join(source, 'package.json'), path.join(made, 'package.json'));
    copyFileSync(path.join(here, 'use-typebox-bundle.mjs'), path.join(made, 'use.mjs'));
    rmSync(folder, { recursive: true, force: true });
    renameSync(made, folder); // whole or not at all
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

const read = (file) => (existsSync(file) ? readFileSync(file, 'utf8') : '');
const isMade = () =>
  read(path.join(folder, 'package.json')) === read(path.join(source, 'package.json')) &&
  read(path.join(folder, 'use.mjs')) === read(path.join(here, 'use-typebox-bundle.mjs'));

if (!isMade()) await bundle().catch(() => {});
