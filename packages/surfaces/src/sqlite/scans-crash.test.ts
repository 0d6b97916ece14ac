/** What if a process that looks through the database dies right here, or its host? */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { LOADERS } from '../../../protocol/src/testing/loaders.ts';
import { EVERYTHING } from '../capabilities/documents/filter.ts';
import { NOSQL_LIMITS } from '../capabilities/nosql/surface.ts';
import { read } from '../testing/calls.ts';
import { freshFolder } from '../testing/data-dir.ts';
import { openEmbeddedDatabase } from './database.ts';
import { embeddedDocuments } from './documents.ts';

const SCRIPT = fileURLToPath(new URL('../testing/scan-forever.ts', import.meta.url));
const skip = process.platform === 'linux' ? false : 'processes are looked up in /proc';

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);

const isThere = (pid: number): boolean => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

test('one that is inside a query ends with its host, whatever ended that', { skip }, async (t) => {
  const folder = freshFolder();
  t.after(folder.remove);
  const host = spawn(process.execPath, [...LOADERS, '--no-warnings', SCRIPT, folder.path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(createInterface(host.stdout), 'line');
  const children = childrenOf(host.pid!);
  assert.equal(children.length, 2);
  host.kill('SIGKILL');
  await once(host, 'exit');
  const deadline = Date.now() + 60_000;
  while (children.some(isThere) && Date.now() < deadline) await delay(10);
  assert.deepEqual(children.filter(isThere), []);
});

test('one that is killed takes one query along at most, and the next is served', { skip }, async (t) => {
  const folder = freshFolder();
  const database = await openEmbeddedDatabase({ dataDir: folder.path });
  t.after(async () => {
    await database.close();
    folder.remove();
  });
  const documents = embeddedDocuments(database, NOSQL_LIMITS);
  const find = () =>
    documents.find(
      { space: 's', collection: 'c', filter: EVERYTHING, sort: [], after: null, limit: 1 },
      read('acme'),
    );
  await find();
  const [child] = childrenOf(process.pid);
  process.kill(child!, 'SIGKILL');
  const [first, second] = await Promise.allSettled([find(), find()]);
  if (first.status === 'rejected') assert.equal(first.reason.code, 'storage_unavailable');
  assert.equal(second.status, 'fulfilled');
});
