/** What the tests run in a process of its own, to end or to starve it. Says what happened line by line. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { append, bigText, create, MEGABYTE, putEntry, TENANT } from '../contract/fixtures.ts';
import { StoreError } from '../error.ts';
import type { Store } from '../port.ts';
import { openPostgres } from '../postgres/open.ts';
import { openSqlite } from '../sqlite/open.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Opens, says `opened` or the code of the failure, and keeps the folder until its input ends. */
async function open(dataDir: string): Promise<void> {
  const store = await openSqlite({ dataDir });
  say('opened');
  process.stdin.resume();
  await once(process.stdin, 'end');
  await store.close();
}

const IN_FLIGHT = 4;

/** Appends to one run without end, several commits in flight, and says each sequence that was acknowledged. */
async function appendForever(dataDir: string): Promise<void> {
  const store = await openSqlite({ dataDir });
  await store.commit([[create('run-1')]]);
  let seq = (await store.runs.row(TENANT, 'run-1'))?.nextSeq ?? 0;
  const lane = async (): Promise<void> => {
    for (;;) {
      const mine = seq++;
      const [result] = await store.commit([[append('run-1', mine)]]);
      if (!result?.won) throw new Error(`append ${mine} lost`);
      say(String(mine));
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
}

/** Puts large entries without end, and says the id of each that was acknowledged. */
async function putLargeForever(location: string): Promise<void> {
  const store = location.startsWith('postgres:')
    ? await openPostgres({ url: location })
    : await openSqlite({ dataDir: location });
  for (;;) {
    const id = randomUUID();
    await store.commit([[putEntry(id, null, { body: bigText(2 * MEGABYTE, id.slice(0, 1)) })]]);
    say(id);
  }
}

/** Commits runs until the disk refuses, then once more after a line of input said that there is space again. */
async function fill(dataDir: string): Promise<void> {
  const store = await openSqlite({ dataDir });
  let count = 0;
  let failure = await tryCreate(store, count);
  while (failure === 'won') failure = await tryCreate(store, ++count);
  const rows = await store.runs.list(TENANT, { limit: count * 2 + 10 });
  say(JSON.stringify({ failure, committed: count, readable: rows.length }));
  await once(process.stdin, 'data');
  say(JSON.stringify({ afterwards: await tryCreate(store, count) }));
  await store.close();
  process.exit();
}

async function tryCreate(store: Store, n: number): Promise<string> {
  const text = bigText(50_000, String(n));
  try {
    const [result] = await store.commit([
      [
        create(`run-${n}-a`, { facts: { request: text } }),
        create(`run-${n}-b`, { facts: { request: text } }),
      ],
    ]);
    return result?.won ? 'won' : 'lost';
  } catch (error) {
    return error instanceof StoreError ? error.code : String(error);
  }
}

const COMMANDS = { open, appendForever, putLargeForever, fill } as const;
export type ChildCommand = keyof typeof COMMANDS;

const [, , command, dataDir] = process.argv;
try {
  await COMMANDS[command as ChildCommand](dataDir as string);
} catch (error) {
  say(error instanceof StoreError ? `${error.code}: ${error.message}` : String(error));
  process.exit(1);
}
