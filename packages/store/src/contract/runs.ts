import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CurrentStore } from '../contract.ts';
import * as make from './fixtures.ts';
import { bigText, MEGABYTE, TENANT, win } from './fixtures.ts';

export function runContract(current: CurrentStore): void {
  describe('runs', () => {
    eventTests(current);
    textTests(current);
    listTests(current);
  });
}

function eventTests(current: CurrentStore): void {
  test('events come in order, by pages', async () => {
    const { store } = current();
    await win(store, make.create('run-1', { events: make.events(0, 12) }));
    assert.deepEqual(await store.runs.events(TENANT, 'run-1', 0, 5), make.events(0, 5));
    assert.deepEqual(await store.runs.events(TENANT, 'run-1', 10, 5), make.events(10, 2));
    assert.deepEqual(await store.runs.events(TENANT, 'run-1', 12, 5), []);
    const [first, second] = make.events(0, 2);
    const bytes = [first!, second!].map(({ payload, sealed }) => Buffer.byteLength(payload + (sealed ?? '')));
    const bounded = (bytesMax: number) => store.runs.events(TENANT, 'run-1', 0, 5, bytesMax);
    assert.deepEqual(await bounded(1), [first], 'the first one always fits');
    assert.deepEqual(await bounded(bytes[0]! + bytes[1]! - 1), [first]);
    assert.deepEqual(await bounded(bytes[0]! + bytes[1]!), [first, second]);
    assert.deepEqual(await bounded(1_000_000), make.events(0, 5));
  });

  test('a run loads as row, latest snapshot and the events after it', async () => {
    const { store } = current();
    await win(store, make.create('run-1', { events: make.events(0, 2) }));
    const fresh = await store.runs.load(TENANT, 'run-1');
    assert.deepEqual([fresh?.snapshot, fresh?.tail], [null, make.events(0, 2)]);
    await win(store, make.append('run-1', 2, { snapshot: { nextSeq: 3, state: '{"n":3}' } }));
    await win(store, make.append('run-1', 3, { snapshot: { nextSeq: 4, state: '{"n":4}' } }));
    await win(store, make.append('run-1', 4));
    const loaded = await store.runs.load(TENANT, 'run-1');
    assert.deepEqual(loaded, {
      row: await store.runs.row(TENANT, 'run-1'),
      snapshot: { nextSeq: 4, state: '{"n":4}' },
      tail: [make.event(4)],
    });
    assert.equal(loaded?.row.nextSeq, 5);
  });

  test('I4: no read shows the run of another tenant', async () => {
    const { store } = current();
    await win(store, make.create('run-1', { facts: { scopeId: 'scope' } }));
    assert.equal(await store.runs.row('other', 'run-1'), null);
    assert.equal(await store.runs.load('other', 'run-1'), null);
    assert.deepEqual(await store.runs.events('other', 'run-1', 0, 10), []);
    assert.deepEqual(await store.runs.list('other', { limit: 10 }), []);
    assert.equal(await store.runs.activeInScope('other', 'scope'), null);
    assert.equal(await store.runs.activeInScope(TENANT, 'scope'), 'run-1');
  });

  test('the highest id is that of any tenant', async () => {
    const { store } = current();
    assert.equal(await store.runs.highestId(), null);
    await win(store, make.create('run-2', { facts: { tenant: 'other' } }));
    await win(store, make.create('run-1'));
    assert.equal(await store.runs.highestId(), 'run-2');
  });

  test('a scope is active while a run of it has not ended', async () => {
    const { store } = current();
    await win(store, make.create('run-1', { facts: { scopeId: 'scope' } }));
    await win(
      store,
      make.create('run-2', { head: { status: 'completed', endedAt: 1 }, facts: { scopeId: 'done' } }),
    );
    assert.equal(await store.runs.activeInScope(TENANT, 'scope'), 'run-1');
    assert.equal(await store.runs.activeInScope(TENANT, 'done'), null);
    await win(store, make.append('run-1', 1, { head: make.head({ status: 'failed', endedAt: 2_000 }) }));
    assert.equal(await store.runs.activeInScope(TENANT, 'scope'), null);
  });
}

const ODD_TEXTS = [
  '',
  ' ',
  '*',
  'it\'s "quoted" \\ and {braced,NULL}',
  'null',
  '%_',
  'blob:',
  `blob:${'0'.repeat(64)}`,
  'ünïcödé ☃ 日本語 🦄 \u{10ffff}',
  'e\u0301 is not \u00e9',
  '\u0001\u001f\u007f\u2028\ufeff',
];

function textTests(current: CurrentStore): void {
  test('odd texts come back as they were', async () => {
    const { store } = current();
    const odd = ODD_TEXTS.map((text, sequence) =>
      make.event(sequence, { type: text, nodeId: text, causationId: text, payload: text, sealed: text }),
    );
    for (const text of ODD_TEXTS) {
      const tenant = `tenant ${text}`;
      const own = {
        tenant,
        workspace: text,
        principal: text,
        workflowId: text,
        scopeId: text,
        request: text,
      };
      await win(store, make.create(`run ${text}`, { facts: own, events: odd }));
      assert.deepEqual(await store.runs.row(tenant, `run ${text}`), {
        ...make.facts(`run ${text}`, own),
        ...make.head(),
        nextSeq: odd.length,
      });
      assert.deepEqual(await store.runs.events(tenant, `run ${text}`, 0, 100), odd);
      assert.equal(await store.runs.activeInScope(tenant, text), `run ${text}`);
    }
  });

  test('odd texts are keys of their own', async () => {
    const { store } = current();
    const records = ODD_TEXTS.map((text) => make.idempotencyRecord(text, { operation: text, body: text }));
    const results = await store.commit(records.map((record) => [{ kind: 'idempotency', record, now: 0 }]));
    assert.ok(results.every((result) => result.won));
    for (const record of records) {
      assert.deepEqual(await store.records.idempotency(TENANT, record.operation, record.key), record);
    }
  });

  test('a megabyte comes back wherever it may stand', async () => {
    const { store } = current();
    const big = bigText(MEGABYTE, 'ö');
    const event = make.event(0, { payload: big, sealed: bigText(MEGABYTE) });
    await win(store, make.create('run-1', { facts: { request: big }, events: [event, make.event(1)] }));
    await win(store, make.append('run-1', 2, { snapshot: { nextSeq: 3, state: big } }));
    assert.deepEqual(await store.runs.events(TENANT, 'run-1', 0, 2), [event, make.event(1)]);
    const loaded = await store.runs.load(TENANT, 'run-1');
    assert.equal(loaded?.row.request, big);
    assert.equal(loaded?.snapshot?.state, big);
    assert.equal((await store.runs.list(TENANT, { limit: 1 }))[0]?.request, big);
  });

  test('a text just under and just over the size of a blob comes back', async () => {
    const { store, blobCount } = current();
    const texts = [bigText(65_536), bigText(65_537)];
    const events = texts.map((payload, sequence) => make.event(sequence, { payload }));
    await win(store, make.create('run-1', { events }));
    assert.deepEqual(await store.runs.events(TENANT, 'run-1', 0, 2), events);
    assert.equal(await blobCount(), 1);
  });
}

function listTests(current: CurrentStore): void {
  test('the list is newest first, filtered, and continues at the cursor', async () => {
    const { store } = current();
    const ids = ['01A', '01B', '01a', '01b', '02A'];
    for (const [i, runId] of ids.entries()) {
      const status = i % 2 === 0 ? 'running' : 'paused';
      await win(
        store,
        make.create(runId, { facts: { workflowId: i < 2 ? 'first' : 'second' }, head: { status } }),
      );
    }
    await win(store, make.create('99', { facts: { tenant: 'other' } }));
    const list = async (filter: object) => {
      const rows = await store.runs.list(TENANT, { limit: 10, ...filter });
      return rows.map((row) => row.runId);
    };
    assert.deepEqual(await list({}), ids.toReversed());
    assert.deepEqual(await list({ limit: 2 }), ['02A', '01b']);
    assert.deepEqual(await list({ limit: 2, beforeRunId: '01b' }), ['01a', '01B']);
    assert.deepEqual(await list({ beforeRunId: '01A' }), []);
    assert.deepEqual(await list({ status: 'paused' }), ['01b', '01B']);
    assert.deepEqual(await list({ workflowId: 'first' }), ['01B', '01A']);
    assert.deepEqual(await list({ workflowId: 'second', status: 'running', beforeRunId: '02A' }), ['01a']);
    assert.deepEqual(await list({ workflowId: 'none' }), []);
  });
}
