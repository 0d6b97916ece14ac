import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { invocationOf, MIB, nodePack, startSandbox } from './testing/sandbox.ts';

const PAGES_PER_MIB = 256;

/** Nothing of a process that has just ended. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function descendants(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    textOf(`/proc/${pid}/task/${thread}/children`).split(' ').filter(Boolean).map(Number),
  );
  return children.flatMap((child) => [child, ...descendants(child)]);
}

const residentMib = (): number =>
  descendants(process.pid)
    .map((pid) => Number(textOf(`/proc/${pid}/statm`).split(' ')[1] ?? 0) / PAGES_PER_MIB)
    .reduce((sum, mib) => sum + mib, 0);

test('an idle process gives its garbage back before it is stopped', async (t) => {
  const sandbox = await startSandbox(t);
  const garbage = `const all = []; for (let n = 0; n < 20; n++) all.push(new Uint8Array(8e6).fill(n)); return { n: all.length };`;
  const limits = { memoryBytes: 400 * MIB, wallClockMs: 60_000, outputBytes: MIB };
  const invocation = invocationOf(await nodePack(garbage), { limits });
  await sandbox.invoke(invocation);
  assert.ok(residentMib() > 150, `${residentMib()} MiB after the call`);
  for (let tries = 0; sandbox.stats().asleep === 0 || residentMib() > 90; tries++) {
    assert.ok(tries < 500, `${residentMib()} MiB while idle`);
    await delay(20);
  }
  assert.equal((await sandbox.invoke(invocation)).result.status, 'success');
});
