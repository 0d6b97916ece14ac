// Makes a fresh clone ready: installs what the lockfile names, once per lockfile.
// Runs on any Node from 16 on and imports nothing that is not built in.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const modules = path.join(root, 'node_modules');
const stampFile = path.join(modules, '.gantry-setup');
const lockFile = path.join(root, '.gantry-setup.lock');

const read = (file) => (existsSync(file) ? readFileSync(file, 'utf8') : '');
const wantedStamp = () =>
  createHash('sha256')
    .update(read(path.join(root, 'package-lock.json')))
    .digest('hex');
const isReady = () => read(stampFile) === wantedStamp() || isInstalled();

const packagesIn = (file) => JSON.parse(read(file) || '{}').packages ?? {};

/** npm ends an install by writing what it installed: then someone has typed `npm ci` before. */
function isInstalled() {
  const kept = packagesIn(path.join(modules, '.package-lock.json'));
  return Object.entries(packagesIn(path.join(root, 'package-lock.json'))).every(
    ([name, { version, integrity, optional }]) =>
      !name.startsWith('node_modules/') ||
      optional ||
      (name in kept && kept[name].version === version && kept[name].integrity === integrity),
  );
}

const isAlive = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
};

/** One install at a time; a lock whose process is gone is nobody's. */
function takeLock() {
  for (;;) {
    try {
      writeFileSync(lockFile, String(process.pid), { flag: 'wx' });
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      const holder = Number(read(lockFile));
      if (holder > 0 && !isAlive(holder)) rmSync(lockFile, { force: true });
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250);
    }
  }
}

function install() {
  console.log('gantry: installing dependencies (once; later starts skip this) ...');
  const npm = process.env.npm_execpath;
  const args = ['ci', '--no-audit', '--no-fund', '--loglevel=error'];
  const run = npm
    ? spawnSync(process.execPath, [npm, ...args], { cwd: root, stdio: 'inherit' })
    : spawnSync('npm', args, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' });
  if (run.status !== 0) {
    console.error(
      'gantry: npm ci failed. Check the network and free disk space, then run the command again.',
    );
    process.exitCode = run.status ?? 1;
    return;
  }
  mkdirSync(modules, { recursive: true });
  writeFileSync(stampFile, wantedStamp());
}

if (!isReady()) {
  takeLock();
  try {
    if (!isReady()) install();
  } finally {
    rmSync(lockFile, { force: true });
  }
}
if (!process.exitCode) await import('./bundle.mjs');
