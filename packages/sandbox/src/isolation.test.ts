/** The wall by itself: programs without any inner layer, behind every isolation of this machine. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { chmod, rename } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { chooseIsolation } from './isolation/choose.ts';
import { INSIDE, LAUNCH_ENVIRONMENT, type Launcher } from './isolation/launch.ts';
import { choosePython } from './isolation/python.ts';
import { KINDS, lacks } from './testing/isolations.ts';
import { invocationOf, nodePack, packOf, scratchFolder, startSandbox } from './testing/sandbox.ts';

/** Runs a program with the launcher's view instead of the runner. */
async function report(launcher: Launcher, program: string, args: readonly string[]): Promise<unknown> {
  const { folder } = await packOf('');
  const command = launcher.command({ folder, flags: [] });
  const outside = command.args.slice(0, command.args.lastIndexOf(program) + 1);
  const attached = command.attached === undefined ? 'ignore' : openSync(command.attached, 'r');
  const child = spawn(command.file, [...outside, ...args], {
    stdio: ['ignore', 'pipe', 'inherit', 'ignore', 'ignore', 'ignore', attached],
    env: LAUNCH_ENVIRONMENT,
    cwd: '/',
    timeout: 120_000,
  });
  assert.ok(child.stdout);
  const said = await text(child.stdout);
  if (typeof attached === 'number') closeSync(attached);
  command.release();
  return JSON.parse(said);
}

/** What a process that is free to try everything gets. */
const CONFINED = {
  uid: 65534,
  passwd: false,
  ownPack: true,
  write: false,
  writePack: false,
  proc: false,
  shell: false,
  interfaces: false,
  connected: false,
  seesOthers: false,
};

const NODE_SCRIPT = `
const fs = require('fs'), os = require('os'), net = require('net');
const can = (work) => { try { work(); return true; } catch { return false; } };
const said = {
  uid: process.getuid(),
  passwd: can(() => fs.readFileSync('/etc/passwd')), ownPack: can(() => fs.readdirSync('/pack')),
  write: can(() => fs.writeFileSync('/x', 'x')), writePack: can(() => fs.writeFileSync('/pack/x', 'x')),
  proc: can(() => fs.readFileSync('/proc/1/cmdline')), shell: fs.existsSync('/bin/sh'),
  interfaces: can(() => os.networkInterfaces()), seesOthers: process.pid > 20,
};
const end = (connected) => { console.log(JSON.stringify({ ...said, connected })); process.exit(); };
net.connect(PORT, '127.0.0.1').on('connect', () => end(true)).on('error', () => end(false));`;

const PYTHON_SCRIPT = `
import json, os, socket
def can(work, *args):
    try: work(*args); return True
    except OSError: return False
def connect(): socket.create_connection(('127.0.0.1', PORT), 1)
installed = os.path.join(os.path.dirname(os.__file__), 'site-packages')
try: import ctypes; native = True
except ImportError: native = False
print(json.dumps({
    'uid': os.getuid(), 'passwd': can(open, '/etc/passwd'), 'ownPack': can(os.listdir, '/pack'),
    'write': can(open, '/x', 'w'), 'writePack': can(open, '/pack/x', 'w'), 'proc': can(open, '/proc/1/cmdline'),
    'shell': os.path.exists('/bin/sh'), 'interfaces': can(socket.if_nameindex),
    'connected': can(connect), 'seesOthers': os.getpid() > 20,
    'native': native, 'installed': os.listdir(installed) if os.path.isdir(installed) else [],
}))`;

async function listening(t: { after(stop: () => void): void }): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  t.after(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
}

for (const kind of KINDS)
  test(`behind ${kind} nothing of the machine is in reach`, async (t) => {
    const reason = await lacks(kind);
    if (reason) return t.skip(reason);
    const port = String(await listening(t));
    const isolation = await chooseIsolation({ isolation: kind, workDir: await scratchFolder() });
    const said = await report(isolation, INSIDE.node, ['-e', NODE_SCRIPT.replace('PORT', port)]);
    assert.deepEqual(said, CONFINED);
    const python = await choosePython(isolation);
    if (python.kind !== 'found') return t.diagnostic(JSON.stringify(python));
    const script = ['-I', '-S', '-c', PYTHON_SCRIPT.replace('PORT', port)];
    const pythonSaid = await report(python.launcher, INSIDE.python, script);
    assert.deepEqual(pythonSaid, { ...CONFINED, native: false, installed: [] });
  });

test('unshare reads packs that only the host may enter', async (t) => {
  const reason = await lacks('unshare');
  if (reason) return t.skip(reason);
  const closed = await scratchFolder();
  await chmod(closed, 0o700);
  const code = await nodePack('return { fine: true };');
  const folder = path.join(closed, 'pack');
  await rename(code.folder, folder);
  const sandbox = await startSandbox(t, { isolation: 'unshare' });
  const { result } = await sandbox.invoke(invocationOf({ ...code, folder }));
  assert.deepEqual(result, { status: 'success', outputs: { fine: true } });
});
