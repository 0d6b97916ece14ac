/** A node that runs again reads what it read before it wrote, and the present after that. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { freshFolder } from '../testing/data-dir.ts';
import { openTestSurfaces } from '../testing/surfaces.ts';
import {
  type Call,
  callGateOf,
  callsOf,
  factsOf,
  MemoryJournal,
  nodeOf,
  type TestCallGate,
} from '../testing/test-call-gate.ts';
import type { DataObject } from './data.ts';

interface World extends TestCallGate {
  readonly journal: MemoryJournal;
}

async function worldOf(t: TestContext, journal = new MemoryJournal()): Promise<World> {
  const folder = freshFolder();
  const opened = await openTestSurfaces(folder.path);
  t.after(async () => {
    await opened.close();
    folder.remove();
  });
  return { ...callGateOf(opened.surfaces, journal), journal };
}

const get = async (call: Call, key: string) =>
  ((await call('storage.kv.get', { key })) as DataObject).value ?? null;
const put = (call: Call, key: string, value: DataObject[string]) => call('storage.kv.put', { key, value });

/** Somebody else's node. */
const other = (world: World): Call => nodeOf(world, { runId: 'run-2' });

test('read, compare and swap: once, however often the node runs', async (t) => {
  const world = await worldOf(t);
  await put(other(world), 'stock', 5);
  for (let run = 0; run < 3; run++) {
    const call = nodeOf(world);
    const expectedValue = await get(call, 'stock');
    assert.equal(expectedValue, 5);
    const swapped = await call('storage.kv.compareAndSwap', {
      key: 'stock',
      expectedValue,
      newValue: Number(expectedValue) - 1,
    });
    assert.equal((swapped as DataObject).swapped, true);
    assert.equal(await get(call, 'stock'), 4 - run, 'after the last write comes the present');
    await nodeOf(world, { runId: `run-${run + 3}` })('storage.kv.atomicIncrement', {
      key: 'stock',
      delta: -1,
    });
  }
});

test('answers of equal reads are given in their order, those of others by what was asked', async (t) => {
  const world = await worldOf(t);
  for (let run = 0; run < 2; run++) {
    const call = nodeOf(world);
    const seen = [];
    for (let step = 0; step < 3; step++) {
      seen.push(await get(call, 'a'), await get(call, `b${step}`));
      await put(call, 'a', step);
    }
    assert.deepEqual(seen, [null, null, 0, null, 1, null]);
    for (let step = 0; step < 3; step++)
      await put(nodeOf(world, { runId: `new-${run}-${step}` }), `b${step}`, 'late');
  }
});

test('reads at once come back by what they asked for', async (t) => {
  const world = await worldOf(t);
  const keys = ['a', 'b', 'c', 'd'];
  const copy = async (call: Call) => {
    const values = await Promise.all(keys.map((key) => get(call, key)));
    for (const [index, key] of keys.entries()) await put(call, `${key}-copy`, values[index]!);
    return values;
  };
  for (const key of keys) await put(nodeOf(world, { runId: key }), key, key);
  const first = await copy(nodeOf(world));
  for (const key of keys) await put(nodeOf(world, { runId: `${key}-2` }), key, 'changed');
  assert.deepEqual(await copy(nodeOf(world)), first);
});

test('a final refusal is an answer like others', async (t) => {
  const world = await worldOf(t);
  const look = (call: Call) =>
    call('db.sql.query', { datasourceId: 'primary', sql: 'select n from later', params: [] });
  const define = (call: Call) =>
    call('db.sql.execute', { datasourceId: 'primary', sql: 'create table later (n integer)', params: [] });
  for (let run = 0; run < 2; run++) {
    const call = nodeOf(world);
    await assert.rejects(look(call), { code: 'sql_syntax_error' });
    await define(call);
    assert.deepEqual(((await look(call)) as DataObject).rows, []);
  }
});

test('what is too large to keep, or has bytes, is read anew; what stands beside it is kept', async (t) => {
  const world = await worldOf(t);
  const large = 'x'.repeat(300_000);
  await put(other(world), 'large', large);
  const seen = [];
  for (let run = 0; run < 2; run++) {
    const call = nodeOf(world);
    seen.push(await get(call, 'small'), await get(call, 'large'));
    await put(call, 'mark', 1);
    const change = nodeOf(world, { runId: `change-${run}` });
    await put(change, 'small', 'changed');
    await put(change, 'large', 'changed');
  }
  assert.deepEqual(seen, [null, large, null, 'changed']);
  assert.ok(JSON.stringify([...world.journal.reads]).length < 2_000);
});

test('however long a node reads and writes, a bounded part of it is kept', async (t) => {
  const world = await worldOf(t);
  await put(other(world), 'large', 'x'.repeat(200_000));
  for (let run = 0; run < 2; run++) {
    const call = nodeOf(world);
    for (let index = 0; index < 40; index++) {
      await get(call, 'large');
      await put(call, 'mark', index);
    }
  }
  const bytes = JSON.stringify([...world.journal.reads]).length;
  assert.ok(bytes > 1_000_000 && bytes < 4.5 * 1024 * 1024, `${bytes} bytes`);
});

test('who only reads, or may only read, leaves nothing on record', async (t) => {
  const world = await worldOf(t);
  for (let index = 0; index < 20; index++) await get(nodeOf(world), 'a');
  await get(nodeOf(world, { effect: 'pure' }), 'a');
  assert.equal(world.journal.reads.size, 0);
  const writer = nodeOf(world);
  for (let index = 0; index < 20; index++) await put(writer, 'a', index);
  assert.equal(world.journal.reads.size, 0);
});

test('a dispatch that begins anew in the same invocation does so too', async (t) => {
  const world = await worldOf(t);
  const calls = world.callGate.open(factsOf());
  for (const dispatch of [0, 1, 2]) {
    const call = callsOf(calls, [], dispatch);
    assert.equal(await get(call, 'a'), null);
    await put(call, 'a', 1);
  }
});

test('a write waits until what was read is on record, and fails if that cannot be', async (t) => {
  class Full extends MemoryJournal {
    override keep(): Promise<boolean> {
      return Promise.reject(new Error('no space left'));
    }
  }
  const world = await worldOf(t, new Full());
  const call = nodeOf(world);
  await get(call, 'a');
  await assert.rejects(put(call, 'a', 1), { code: 'internal_error' });
  assert.equal(await get(nodeOf(world), 'a'), null);
});
