import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  append,
  claimInvocation,
  create,
  deleteEntry,
  event,
  head,
  idempotency,
  putEntry,
} from '../contract/fixtures.ts';
import type { CommitGroup, CommitResult, Write } from '../port.ts';
import { decodeBatch, decodeResult, encodeBatch, encodeResult } from './batch.ts';

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });

const anyHead = fc
  .record({ owner: maybe(fc.nat()), wakeAt: maybe(fc.nat()), endedAt: maybe(fc.nat()) })
  .map((over) => head(over));

const anyEvents = (first: number) =>
  fc
    .array(fc.record({ nodeId: maybe(fc.string()), payload: fc.json(), sealed: maybe(fc.json()) }))
    .map((all) => all.map((over, i) => event(first + i, over)));

const anyWrite: fc.Arbitrary<Write> = fc.oneof(
  fc
    .record({ runId: fc.string(), scopeId: maybe(fc.string()), head: anyHead, events: anyEvents(0) })
    .map(({ runId, scopeId, head, events }) => create(runId, { facts: { scopeId }, head, events })),
  fc
    .record({ head: anyHead, events: anyEvents(7), snapshot: maybe(fc.json()) })
    .map(({ head, events, snapshot }) =>
      append('run-1', 7, { head, events, ...(snapshot && { snapshot: { nextSeq: 7, state: snapshot } }) }),
    ),
  fc.string().map((key) => idempotency(key)),
  fc.string().map((id) => claimInvocation(id)),
  fc.tuple(fc.string(), maybe(fc.nat())).map(([id, version]) => putEntry(id, version)),
  fc.string().map((id) => deleteEntry(id, 1)),
);

test('a batch decodes to what was encoded', () => {
  fc.assert(
    fc.property(fc.array(fc.array(anyWrite, { maxLength: 4 }), { maxLength: 5 }), (groups: CommitGroup[]) => {
      assert.deepEqual(decodeBatch(structuredClone(encodeBatch(groups))), groups);
    }),
  );
});

test('a result decodes to what was encoded', () => {
  const anyResult: fc.Arbitrary<CommitResult> = fc.oneof(
    fc.constant({ won: true as const }),
    fc
      .tuple(fc.nat(1_000), fc.constantFrom('stale' as const, 'exists' as const))
      .map(([write, reason]) => ({ won: false as const, write, reason })),
  );
  fc.assert(fc.property(anyResult, (result) => assert.deepEqual(decodeResult(encodeResult(result)), result)));
});
