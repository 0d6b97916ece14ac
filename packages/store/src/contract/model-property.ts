import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { CurrentStore } from '../contract.ts';
import type { CommitGroup, Store, Write } from '../port.ts';
import * as make from './fixtures.ts';
import { TENANT } from './fixtures.ts';
import { commitToModel, emptyModel, type Model } from './model.ts';

const RUNS = 25;

/** Few ids and small numbers, so that writes often meet. `prefix` keeps one example apart from the next. */
function batches(prefix: () => string): fc.Arbitrary<() => CommitGroup[][]> {
  const id = fc.constantFrom('a', 'b', 'c');
  const owner = fc.constantFrom(null, 1);
  const payload = fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text));
  const create = fc.record({ id, owner, count: fc.nat(2) }).map(
    ({ id, owner, count }) =>
      (): Write =>
        create_(prefix() + id, owner, count),
  );
  const append = fc
    .record({ id, seq: fc.nat(4), expectedOwner: owner, owner, payload, snapshot: fc.boolean() })
    .map(({ id, seq, expectedOwner, owner, payload, snapshot }) => (): Write => {
      const events = [make.event(seq, { payload })];
      const write = make.append(prefix() + id, seq, { expectedOwner, events, head: make.head({ owner }) });
      return snapshot ? { ...write, snapshot: { nextSeq: seq + 1, state: payload } } : write;
    });
  const idempotency = fc.record({ id, now: fc.nat(3), body: payload }).map(
    ({ id, now, body }) =>
      (): Write =>
        make.idempotency(prefix() + id, { now, expiresAt: now + 1, body }),
  );
  const claim = id.map((id) => (): Write => make.claimInvocation(prefix() + id));
  const settle = fc.record({ id, payload }).map(
    ({ id, payload }) =>
      (): Write =>
        make.settleInvocation(prefix() + id, payload),
  );
  const write = fc.oneof(create, { weight: 3, arbitrary: append }, idempotency, claim, settle);
  const group = fc.array(write, { minLength: 1, maxLength: 3 });
  return fc
    .array(fc.array(group, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 6 })
    .map((all) => () => all.map((batch) => batch.map((writes) => writes.map((make) => make()))));
}

const create_ = (runId: string, owner: number | null, count: number): Write =>
  make.create(runId, { head: { owner }, events: make.events(0, count) });

export function modelContract(current: CurrentStore): void {
  describe('against the model', () => {
    test('any sequence of batches has the results and the state of the model', async () => {
      const { store } = current();
      let example = 0;
      await fc.assert(
        fc.asyncProperty(
          batches(() => `${example}-`),
          async (generate) => {
            example++;
            let model = emptyModel();
            for (const batch of generate()) {
              const expected = batch.map((group) => {
                const { model: next, result } = commitToModel(model, group);
                model = next;
                return result;
              });
              assert.deepEqual(await store.commit(batch), expected);
            }
            await assertStored(store, model);
          },
        ),
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
