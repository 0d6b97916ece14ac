/**
 * A killed process keeps the page cache, so the crash test alone does not prove that the log was synced.
 * Here the kernel tells: between two answers of 201, the log must have been synced.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { node, workflow } from './testing/definitions.ts';
import { startHostProcess, TEST_KEY, temporaryFolder } from './testing/host-process.ts';

const CREATES = 15;
const hasStrace = spawnSync('strace', ['-V']).status === 0;

async function watchSystemCalls(pid: number, file: string): Promise<{ stop(): Promise<void> }> {
  const calls = 'trace=fsync,fdatasync,write,writev,sendto,sendmsg';
  const child = spawn('strace', ['-f', '-s', '32', '-e', calls, '-o', file, '-p', String(pid)]);
  const ended = once(child, 'exit');
  // Heard to the end: strace tells of new threads too, and would end when nobody listens
  await new Promise<void>((resolve) => {
    child.stderr.on('data', (chunk) => String(chunk).includes('attached') && resolve());
  });
  return {
    async stop() {
      child.kill('SIGINT');
      await ended;
    },
  };
}

test('the log is synced to disk before a run is answered with 201', async (t) => {
  if (!hasStrace) {
    assert.ok(!process.env.CI, 'strace must be installed in CI');
    t.skip('strace is not installed');
    return;
  }
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const definition = workflow('three', [
    node('a', 'core.noop'),
    node('b', 'core.noop'),
    node('c', 'core.noop'),
  ]);
  await writeFile(path.join(folder.path, 'three.json'), JSON.stringify(definition));
  const trace = path.join(folder.path, 'trace');
  const host = await startHostProcess({ dataDir: path.join(folder.path, 'data'), workflowsDir: folder.path });
  const watcher = await watchSystemCalls(host.child.pid!, trace);
  for (let i = 0; i < CREATES; i++) {
    const response = await fetch(`${host.url}/v1/runs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
      body: '{"workflowId":"three"}',
    });
    assert.equal(response.status, 201);
    await response.arrayBuffer();
  }
  await watcher.stop();
  await host.stop();

  let synced = 0;
  const syncsBeforeAnswer: number[] = [];
  for (const line of (await readFile(trace, 'utf8')).split('\n')) {
    if (/(fsync|fdatasync)(\(\d+\)| resumed>\)).*= 0$/.test(line)) synced++;
    if (line.includes('HTTP/1.1 201')) {
      syncsBeforeAnswer.push(synced);
      synced = 0;
    }
  }
  assert.equal(syncsBeforeAnswer.length, CREATES);
  assert.ok(
    syncsBeforeAnswer.every((count) => count >= 1),
    `syncs before each answer: ${syncsBeforeAnswer.join(' ')}`,
  );
});
