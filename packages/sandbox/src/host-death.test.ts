/** What is left when the host is killed, and what a host that is not root can do. */
import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { LOADERS } from '../../protocol/src/testing/loaders.ts';

const HOST = new URL('./testing/doomed-host.ts', import.meta.url).pathname;
const NOBODY = 65534;

type Host = ChildProcessByStdio<null, Readable, Readable>;

function startHost(body: string, uid?: number): Host {
  const workDir = mkdtempSync(path.join(tmpdir(), 'gantry-doomed-'));
  process.once('exit', () => rmSync(workDir, { recursive: true, force: true }));
  if (uid !== undefined) chownSync(workDir, uid, uid);
  return spawn(process.execPath, [...LOADERS, HOST, workDir, body], {
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid !== undefined && { uid, gid: uid }),
  });
}

/** Both may arrive at once. */
const linesOf = (host: Host) => createInterface(host.stdout)[Symbol.asyncIterator]();

async function nextLine(lines: AsyncIterator<string>): Promise<string> {
  const { value, done } = await lines.next();
  return done ? 'the host ended' : value;
}

function descendants(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean)
    .map(Number);
  return children.flatMap((child) => [child, ...descendants(child)]);
}

/** What has ended but is not yet reaped, by an init that may be slow or none at all, is gone too. */
function runs(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

async function gone(pids: readonly number[]): Promise<void> {
  const limit = Date.now() + 60_000;
  while (pids.some(runs) && Date.now() < limit) await setTimeout(10);
  assert.deepEqual(pids.filter(runs), [], 'left behind');
}

async function diesWithHost(uid?: number): Promise<void> {
  const host = startHost('for (;;);', uid);
  assert.match(await nextLine(linesOf(host)), /^busy (bwrap|unshare)/);
  const pids = descendants(host.pid ?? 0);
  assert.ok(pids.length >= 2, 'a launcher and Node');
  host.kill('SIGKILL');
  await gone(pids);
}

test('kill -9 of the host leaves no pack process, however busy', async () => {
  await diesWithHost();
});

test('so it is for a host that is not root, which isolates all the same', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('only root can become another user');
  const probe = spawn(process.execPath, ['-e', `require('fs').accessSync(${JSON.stringify(HOST)})`], {
    uid: NOBODY,
    gid: NOBODY,
    stdio: 'ignore',
  });
  const [code] = await once(probe, 'exit').catch(() => [1]);
  if (code !== 0) return t.skip('another user cannot read this checkout');
  await diesWithHost(NOBODY);
  const host = startHost('return { fine: true };', NOBODY);
  t.after(() => host.kill('SIGKILL'));
  const lines = linesOf(host);
  assert.match(await nextLine(lines), /^busy (bwrap|unshare)/);
  assert.deepEqual(JSON.parse(await nextLine(lines)), { status: 'success', outputs: { fine: true } });
});
