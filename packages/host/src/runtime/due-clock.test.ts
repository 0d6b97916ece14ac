import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Entry, openSqlite, type Store, type StoreChange } from '@gantry/store';
import { pino } from 'pino';
import { temporaryFolder } from '../testing/host-process.ts';
import { DueClock } from './due-clock.ts';

const KIND = 'egg';
const EGGS = { kind: KIND, idPrefix: 'egg' };
const log = pino({ level: 'silent' });

async function freshStore(t: TestContext): Promise<Store> {
  const folder = await temporaryFolder();
  const store = await openSqlite({ dataDir: folder.path });
  t.after(async () => {
    await store.close();
    await folder.remove();
  });
  return store;
}

async function put(store: Store, id: string, dueAt: number | null, expectedVersion: number | null = null) {
  const entry = { kind: KIND, tenant: 't', id, ref: null, expiresAt: null, createdAt: 0, body: '{}', dueAt };
  const [result] = await store.commit([[{ kind: 'putEntry', entry, expectedVersion }]]);
  assert.ok(result?.won);
}

/** Keeps what fell due, and takes it off the clock. */
function collector(store: Store) {
  const seen: string[] = [];
  const waiting: (() => void)[] = [];
  const onDue = async ({ id, version }: Pick<Entry, 'id' | 'version'>): Promise<void> => {
    await put(store, id, null, version);
    seen.push(id);
    for (const resolve of waiting.splice(0)) resolve();
  };
  return { seen, onDue, next: () => new Promise<void>((resolve) => waiting.push(resolve)) };
}

test('what is due at the start and what is noted later is worked on, once', async (t) => {
  const store = await freshStore(t);
  await put(store, 'early', Date.now() - 1_000);
  const { seen, onDue, next } = collector(store);
  const clock = new DueClock({ store, kind: EGGS, now: Date.now, log, onDue });
  t.after(() => clock.stop());
  const first = next();
  await clock.start();
  await first;
  const second = next();
  const dueAt = Date.now() + 20;
  await put(store, 'later', dueAt);
  clock.note(dueAt);
  await second;
  assert.ok(Date.now() >= dueAt);
  assert.deepEqual(seen, ['early', 'later']);
});

test('what another process put is heard of, and also that something may have gone unheard', async (t) => {
  const store = await freshStore(t);
  let tell: (change: StoreChange) => void = () => assert.fail('not watched');
  const watched: Store = {
    ...store,
    watch: async (listener) => {
      tell = listener;
      return async () => {};
    },
  };
  const { seen, onDue, next } = collector(store);
  const clock = new DueClock({ store: watched, kind: EGGS, now: Date.now, log, onDue });
  t.after(() => clock.stop());
  await clock.start();
  for (const [id, change] of [
    ['a', { runs: [], kinds: ['other', KIND] }],
    ['b', { runs: [], kinds: [], missed: true }],
  ] as const) {
    await put(store, id, Date.now());
    const heard = next();
    tell(change);
    await heard;
  }
  assert.deepEqual(seen, ['a', 'b']);
});

test('a failure leaves the entry due and is tried again after a while, not at once', async (t) => {
  const store = await freshStore(t);
  await put(store, 'hard', 1_000);
  await put(store, 'easy', 1_000);
  const { seen, onDue } = collector(store);
  let tries = 0;
  const clock = new DueClock({
    store,
    kind: EGGS,
    log,
    now: () => 1_000,
    onDue: async (entry) => {
      if (entry.id === 'hard' && ++tries < 2) throw new Error('no room');
      await onDue(entry);
    },
  });
  t.after(() => clock.stop());
  await clock.run();
  assert.deepEqual([seen, tries], [['easy'], 1]);
  await clock.run();
  assert.deepEqual([seen, tries], [['easy', 'hard'], 2]);
});

test('entries that fail hold up no other, however many they are', async (t) => {
  const store = await freshStore(t);
  for (let i = 0; i < 70; i++) await put(store, `hard-${i}`, 1_000);
  await put(store, 'easy', 1_001);
  const { seen, onDue } = collector(store);
  let tries = 0;
  const clock = new DueClock({
    store,
    kind: EGGS,
    log,
    now: () => 2_000,
    onDue: async (entry) => {
      if (entry.id !== 'easy') throw new Error(`no room ${++tries}`);
      await onDue(entry);
    },
  });
  t.after(() => clock.stop());
  await clock.run();
  assert.deepEqual([seen, tries], [['easy'], 70]);
});

test('an entry that does not move is not worked on for ever', async (t) => {
  const store = await freshStore(t);
  await put(store, 'stuck', 1_000);
  let times = 0;
  const clock = new DueClock({
    store,
    kind: EGGS,
    log,
    now: () => 1_000,
    onDue: async () => {
      times++;
    },
  });
  t.after(() => clock.stop());
  await clock.run();
  assert.equal(times, 1);
});

test('a stopped clock works on nothing more', async (t) => {
  const store = await freshStore(t);
  const { seen, onDue } = collector(store);
  const clock = new DueClock({ store, kind: EGGS, now: Date.now, log, onDue });
  await clock.start();
  await clock.stop();
  await put(store, 'late', Date.now() - 1);
  clock.note(Date.now() - 1);
  await clock.run();
  assert.deepEqual(seen, []);
});
