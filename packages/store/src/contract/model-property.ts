import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { CurrentStore } from '../contract.ts';
import type { CommitGroup, Entry, Store, Write } from '../port.ts';
import * as make from './fixtures.ts';
import { TENANT } from './fixtures.ts';
import { commitToModel, emptyModel, type Model } from './model.ts';

const RUNS = 25;

/** A write whose ids begin with `prefix`, so that one example does not meet the next. */
type MakeWrite = (prefix: string) => Write;

/** Few ids and small numbers, so that writes often meet. */
const id = fc.constantFrom('a', 'b', 'c');
const owner = fc.constantFrom(null, 1);
const text = fc.string({ unit: 'grapheme' }).map((value) => JSON.stringify(value));

const createRun = fc.tuple(id, owner, fc.nat(2)).map(([id, owner, count]): MakeWrite => {
  return (prefix) => make.create(prefix + id, { head: { owner }, events: make.events(0, count) });
});

const append = fc
  .record({ id, seq: fc.nat(4), expectedOwner: owner, owner, text, snapshot: fc.boolean() })
  .map(({ id, seq, expectedOwner, owner, text, snapshot }): MakeWrite => {
    const events = [make.event(seq, { payload: text })];
    const over = { expectedOwner, events, head: make.head({ owner }) };
    const withSnapshot = snapshot ? { ...over, snapshot: { nextSeq: seq + 1, state: text } } : over;
    return (prefix) => make.append(prefix + id, seq, withSnapshot);
  });

const idempotency = fc.tuple(id, fc.nat(3), text).map(([id, now, body]): MakeWrite => {
  return (prefix) => make.idempotency(prefix + id, { now, expiresAt: now + 1, body });
});

const claim = fc.tuple(id, fc.constantFrom('claimed', 'settled', 'pending')).map(([id, state]): MakeWrite => {
  const over = { outcome: state === 'claimed' ? null : '{}', eventsPending: state === 'pending' };
  return (prefix) => make.claimInvocation(prefix + id, over);
});

const tell = id.map(
  (id): MakeWrite =>
    (prefix) =>
      make.tellInvocation(prefix + id),
);

const settle = fc.tuple(id, text, fc.boolean()).map(([id, outcome, isPending]): MakeWrite => {
  const pending = isPending ? { eventsPending: true as const } : {};
  return (prefix) => ({ ...make.settleInvocation(prefix + id, outcome), ...pending });
});

const version = fc.integer({ min: 0, max: 3 });
const ref = fc.constantFrom(null, 'r', 's');
const time = fc.option(fc.nat(5), { nil: null });

const putEntry = fc
  .record({ id, expectedVersion: fc.option(version, { nil: null }), ref, dueAt: time, expiresAt: time, text })
  .map(({ id, expectedVersion, ref, dueAt, expiresAt, text }): MakeWrite => {
    const over = { ref, dueAt, expiresAt, body: text };
    return (prefix) => make.putEntry(prefix + id, expectedVersion, { kind: prefix, ...over });
  });

const deleteEntry = fc.tuple(id, version).map(([id, expectedVersion]): MakeWrite => {
  return (prefix) => make.deleteEntry(prefix + id, expectedVersion, { kind: prefix });
});

const expectEntry = fc.tuple(id, fc.option(version, { nil: null })).map(
  ([id, version]): MakeWrite =>
    (prefix) =>
      make.expectEntry(prefix + id, version, { kind: prefix }),
);

const adjust = fc
  .tuple(id, fc.integer({ min: -2, max: 3 }), fc.nat(4), fc.option(fc.nat(3)))
  .map(([id, delta, max, floor]): MakeWrite => {
    const bounds = floor === null ? { max } : { max, floor };
    return (prefix) => ({
      kind: 'adjust',
      key: { ...make.key(prefix + id), kind: prefix },
      delta,
      ...bounds,
    });
  });

const write = fc.oneof(
  createRun,
  { weight: 3, arbitrary: append },
  idempotency,
  claim,
  settle,
  tell,
  { weight: 3, arbitrary: putEntry },
  deleteEntry,
  expectEntry,
  adjust,
);
const group = fc.array(write, { minLength: 1, maxLength: 3 });
const batches = fc.array(fc.array(group, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 6 });

export function modelContract(current: CurrentStore): void {
  describe('against the model', () => {
    test('any sequence of batches has the results and the state of the model', async () => {
      const { store } = current();
      let example = 0;
      await fc.assert(
        fc.asyncProperty(batches, async (generated) => {
          const prefix = `${example++}-`;
          let model = emptyModel();
          for (const makers of generated) {
            const batch = makers.map((group): CommitGroup => group.map((makeWrite) => makeWrite(prefix)));
            const expected = batch.map((group) => {
              const { model: next, result } = commitToModel(model, group);
              model = next;
              return result;
            });
            assert.deepEqual(await store.commit(batch), expected);
          }
          await assertStored(store, model);
          await assertEntries(store, prefix, Object.values(model.entries));
        }),
        { numRuns: RUNS },
      );
    });
  });
}

async function assertStored(store: Store, model: Model): Promise<void> {
  for (const [runId, { row, events, snapshot }] of Object.entries(model.runs)) {
    const tail = events.slice(snapshot?.nextSeq ?? 0);
    assert.deepEqual(await store.runs.load(TENANT, runId), { row, snapshot, tail });
    assert.deepEqual(await store.runs.events(TENANT, runId, 0, 100), events);
  }
  for (const record of Object.values(model.idempotency)) {
    assert.deepEqual(await store.records.idempotency(TENANT, record.operation, record.key), record);
  }
  for (const record of Object.values(model.invocations)) {
    assert.deepEqual(await store.records.invocation(TENANT, record.invocationId), record);
  }
}

/** Each example has a kind of its own, so host-wide reads see it alone. */
async function assertEntries(store: Store, kind: string, entries: readonly Entry[]): Promise<void> {
  const byId = entries.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  assert.deepEqual(await store.entries.all(kind, null, 100), byId);
  assert.deepEqual(await store.entries.list(kind, TENANT, { limit: 100 }), byId.toReversed());
  assert.equal(await store.entries.count(kind, TENANT), entries.length);
  const ofRef = byId.filter((entry) => entry.ref === 'r');
  assert.deepEqual(
    await store.entries.list(kind, TENANT, { ref: 'r', oldestFirst: true, limit: 100 }),
    ofRef,
  );
  const due = byId.filter((entry) => entry.dueAt !== null).sort((a, b) => Number(a.dueAt) - Number(b.dueAt));
  assert.deepEqual(await store.entries.due(kind, 5, 100), due);
  assert.equal(await store.entries.nextDueAt(kind), due[0]?.dueAt ?? null);
}
