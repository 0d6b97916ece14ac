/** What if the process dies right here, and again? */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { LOADERS } from '../../../protocol/src/testing/loaders.ts';
import { SQL_LIMITS } from '../ports/sql.ts';
import { freshFolder } from '../testing/data-dir.ts';
import { talk } from '../testing/sql-talk.ts';
import { SqlitePool, tenantFiles } from './sqlite.ts';

const SCRIPT = fileURLToPath(new URL('../testing/sql-forever.ts', import.meta.url));
const skip = process.platform === 'linux' ? false : 'processes are looked up in /proc';

function openFiles(dataDir: string) {
  const pool = new SqlitePool();
  const options = { dataDir, limits: SQL_LIMITS, bytesMax: 10_000_000, invocationRetentionMs: 3_600_000 };
  return { pool, on: talk(tenantFiles(pool, options), 'acme') };
}

const start = (...args: string[]): ChildProcess =>
  spawn(process.execPath, [...LOADERS, '--no-warnings', SCRIPT, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);

const isThere = (pid: number): boolean => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

/** The ids that were answered before it was killed. */
async function killedAfter(answers: number, dataDir: string, first: number): Promise<number[]> {
  const child = start(dataDir, String(first));
  const ids: number[] = [];
  for await (const line of createInterface(child.stdout!)) {
    ids.push(Number(line));
    if (ids.length === answers) child.kill('SIGKILL');
  }
  return ids;
}

test('kill -9 loses no answered write, and no write happens twice', async (t) => {
  const folder = freshFolder();
  t.after(folder.remove);
  const { pool, on } = openFiles(folder.path);
  await on.execute('create table counter (n integer)');
  await on.execute('insert into counter values (?)', [0]);
  const seen = new Set<number>();
  let asked = 0;
  for (const answers of [5, 12, 1]) {
    const ids = await killedAfter(answers, folder.path, asked);
    for (const id of ids) seen.add(id);
    asked = Math.max(...seen) + 1;
    // What was under way is asked for again, as a node that runs again does
    for (let id = 0; id < asked + 3; id++)
      await on.execute('update counter set n = n + ?', [1], { id: `call-${id}` });
    asked += 3;
  }
  assert.deepEqual(await on.query('select n from counter'), [{ n: asked }]);
  await pool.close();
});

test('a process inside a query ends with its host, whatever ended that', { skip }, async (t) => {
  const folder = freshFolder();
  t.after(folder.remove);
  const host = start(folder.path, '0', 'busy');
  await once(createInterface(host.stdout!), 'line');
  const children = childrenOf(host.pid!);
  assert.ok(children.length >= 2);
  host.kill('SIGKILL');
  await once(host, 'exit');
  const deadline = Date.now() + 60_000;
  while (children.some(isThere) && Date.now() < deadline) await delay(10);
  assert.deepEqual(children.filter(isThere), []);
});

test('a process that is killed takes one statement along, and the next is served', { skip }, async (t) => {
  const folder = freshFolder();
  t.after(folder.remove);
  const { pool, on } = openFiles(folder.path);
  const before = new Set(childrenOf(process.pid));
  await on.query('select 1 as one');
  const [child] = childrenOf(process.pid).filter((pid) => !before.has(pid));
  assert.ok(child);
  const slow = on.query(
    'with recursive c(x) as (select 1 union all select x + 1 from c) select count(*) from c',
  );
  await on.query('select 2 as two');
  const lost = assert.rejects(slow, { code: 'storage_unavailable' });
  process.kill(child, 'SIGKILL');
  await lost;
  assert.deepEqual(await on.query('select 3 as three'), [{ three: 3 }]);
  await pool.close();
});
