import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keepThread, type Thread, takeThread, warmThread } from './kept-threads.ts';

const SOURCE = `import { parentPort } from 'node:worker_threads';
parentPort.on('message', (message) => parentPort.postMessage(message));`;
/** Each test has threads of its own. */
const entryOf = (name: string): URL =>
  new URL(`data:text/javascript,${encodeURIComponent(`${SOURCE} // ${name}`)}`);

const echo = (thread: Thread, message: string): Promise<string> =>
  new Promise((resolve, reject) => {
    thread.onMessage = resolve;
    thread.onEnd = reject;
    thread.worker.postMessage(message);
  });

test('a thread that is kept serves the next, and no more than two are kept', async () => {
  const entry = entryOf('kept');
  const threads = [takeThread(entry), takeThread(entry), takeThread(entry)];
  assert.deepEqual(await Promise.all(threads.map((thread) => echo(thread, 'first'))), Array(3).fill('first'));
  for (const thread of threads) await keepThread(entry, thread);
  assert.deepEqual(
    threads.map(({ worker }) => worker.threadId > 0),
    [true, true, false],
  );
  const again = [takeThread(entry), takeThread(entry)];
  assert.deepEqual(new Set(again), new Set(threads.slice(0, 2)));
  assert.equal(await echo(again[0]!, 'again'), 'again');
  for (const { worker } of again) await worker.terminate();
});

test('one that died is not taken, and one that was started early is', async () => {
  const entry = entryOf('died');
  const dead = takeThread(entry);
  await keepThread(entry, dead);
  await dead.worker.terminate();
  const next = takeThread(entry);
  assert.notEqual(next, dead);
  await next.worker.terminate();
  warmThread(entry);
  warmThread(entry);
  const warm = takeThread(entry);
  assert.equal(await echo(warm, 'hello'), 'hello');
  await warm.worker.terminate();
});
