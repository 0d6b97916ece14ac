import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { propertyRuns } from '../../../protocol/src/testing/property-runs.ts';
import type { Child, ChildStatus } from './child.ts';
import { FAILURE_MODES, JOIN_MODES, type JoinPolicy, judgeJoin, roomFor, tallyOf } from './join.ts';

const statuses: ChildStatus[] = ['completed', 'failed', 'cancelled'];
const cases = fc.integer({ min: 1, max: 8 }).chain((size) =>
  fc.record({
    ends: fc.array(fc.constantFrom(...statuses), { minLength: size, maxLength: size }),
    order: fc.shuffledSubarray(
      Array.from({ length: size }, (_, index) => index),
      { minLength: size },
    ),
    policy: fc.record({
      mode: fc.constantFrom(...JOIN_MODES),
      quorum: fc.integer({ min: 1, max: size }),
      onChildFailure: fc.constantFrom(...FAILURE_MODES),
    }),
  }),
);

type Case = typeof cases extends fc.Arbitrary<infer Value> ? Value : never;

/** What the sheet says, told over the order of ends: the first prefix that decides. */
function expected({ ends, order, policy }: Case): { after: number; outcome: string } {
  const heard = order.map((index) => ends[index]!);
  const goal = { 'wait-all': heard.length, race: 1, first: 1, quorum: policy.quorum }[policy.mode];
  for (let after = 1; after <= heard.length; after++) {
    const sofar = heard.slice(0, after);
    const good = sofar.filter((status) => status === 'completed').length;
    const outcome = good === after ? 'satisfied' : 'partial';
    if (policy.onChildFailure === 'fail-fast' && good < after) return { after, outcome: 'failed' };
    const counted = policy.mode === 'wait-all' || policy.mode === 'race' ? after : good;
    if (counted >= goal) return { after, outcome };
    if (good + heard.length - after < goal && counted === good && policy.mode !== 'wait-all')
      return { after, outcome: 'failed' };
  }
  return assert.fail('every join is decided when all have ended');
}

test('a join is decided by the first ends that suffice, whatever comes after them', () => {
  fc.assert(
    fc.property(cases, (item) => {
      const { ends, order, policy } = item;
      const children: Pick<Child, 'status'>[] = ends.map(() => ({ status: 'running' }));
      const { after, outcome } = expected(item);
      order.forEach((index, position) => {
        if (position >= after) return;
        assert.equal(judgeJoin(policy, tallyOf(children)), undefined);
        children[index] = { status: ends[index]! };
      });
      assert.equal(judgeJoin(policy, tallyOf(children)), outcome);
    }),
    { numRuns: propertyRuns(500) },
  );
});

test('those who lost by our own hand do not make a met quorum partial', () => {
  const policy: JoinPolicy = { mode: 'quorum', quorum: 2, onChildFailure: 'collect' };
  const at = (...list: Child['status'][]) => judgeJoin(policy, tallyOf(list.map((status) => ({ status }))));
  assert.equal(at('completed', 'running', 'completed', 'queued'), 'satisfied');
  assert.equal(at('completed', 'failed', 'completed', 'wanted'), 'partial');
  assert.equal(at('failed', 'failed', 'completed', 'cancelled'), 'failed');
});

test('room is what concurrency leaves beside those under way', () => {
  const children = ['running', 'wanted', 'queued', 'completed'].map((status) => ({
    status: status as Child['status'],
  }));
  assert.equal(roomFor(children, 3), 1);
  assert.equal(roomFor(children, 2), 0);
});
