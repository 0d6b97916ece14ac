// Makes a fresh clone ready: installs what the lockfile names, once per lockfile.
// Runs on any Node from 16 on and imports nothing that is not built in.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
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

/** How many packages of the lockfile are on disk, and how many there will be about. */
function counted() {
  const names = Object.entries(packagesIn(path.join(root, 'package-lock.json')))
    .filter(([name, { optional }]) => name.startsWith('node_modules/') && !optional)
    .map(([name]) => name);
  const there = names.filter((name) => existsSync(path.join(root, name, 'package.json')));
  return `${there.length} of ${names.length} packages`;
}

/** One line that is rewritten on a terminal; elsewhere a line from time to time. Returns what ends it. */
function showProgress() {
  const { stdout } = process;
  const from = Date.now();
  const say = () => {
    const line = `gantry: installing dependencies: ${counted()}, ${Math.round((Date.now() - from) / 1000)} s`;
    stdout.write(stdout.isTTY ? `\r${line}\x1b[K` : `${line}\n`);
  };
  say();
  const timer = setInterval(say, stdout.isTTY ? 1_000 : 15_000);
  return () => {
    clearInterval(timer);
    say();
    if (stdout.isTTY) stdout.write('\n');
  };
}

async function install() {
  console.log('gantry: installing dependencies (once; later starts skip this) ...');
  const npm = process.env.npm_execpath;
  const args = ['ci', '--no-audit', '--no-fund', '--loglevel=error', '--no-progress'];
  const options = { cwd: root, stdio: 'inherit' };
  const run = npm
    ? spawn(process.execPath, [npm, ...args], options)
    : spawn('npm', args, { ...options, shell: process.platform === 'win32' });
  const done = showProgress();
  const [code] = await once(run, 'close').catch(() => [1]);
  done();
  if (code !== 0) {
    console.error(
      'gantry: npm ci failed. Check the network and free disk space, then run the command again.',
    );
    process.exitCode = code ?? 1;
    return;
  }
  mkdirSync(modules, { recursive: true });
  writeFileSync(stampFile, wantedStamp());
}

if (!isReady()) {
  takeLock();
  try {
    if (!isReady()) await install();
  } finally {
    rmSync(lockFile, { force: true });
  }
}
if (!process.exitCode) await import('./bundle.mjs');
