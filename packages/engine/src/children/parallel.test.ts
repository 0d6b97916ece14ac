import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@gantry/protocol';
import fc from 'fast-check';
import { propertyRuns } from '../../../protocol/src/testing/property-runs.ts';
import { childRequests, runningChildren } from '../index.ts';
import { Family } from '../testing/family.ts';
import { edge, fixed, node, workflow } from '../testing/workflow.ts';
import type { ChildStatus } from './child.ts';
import { FAILURE_MODES, JOIN_MODES, judgeJoin } from './join.ts';

const worker = workflow([node('work')], [], { id: 'worker', variables: [{ name: 'mine', type: 'string' }] });

function parentOf(size: number, config: JsonObject) {
  const decision = { kind: 'next-worker', nextWorkerIds: Array.from({ length: size }, () => 'worker') };
  return workflow(
    [
      node('lead', 'core.orchestrator.supervisor', { inputs: { decision: fixed(decision) } }),
      node('send', 'core.dispatch', {
        config: { fanOutPolicy: 'parallel', outputMapping: { last: 'mine' }, ...config },
      }),
      node('after', 'core.noop'),
    ],
    ['lead>send', edge('send>after', { triggerRule: 'all_complete' })],
    { variables: [{ name: 'last', type: 'string', defaultValue: 'nobody' }] },
  );
}

const statuses: ChildStatus[] = ['completed', 'failed', 'cancelled'];
const cases = fc.integer({ min: 2, max: 7 }).chain((size) =>
  fc.record({
    size: fc.constant(size),
    ends: fc.array(fc.constantFrom(...statuses), { minLength: size, maxLength: size }),
    picks: fc.array(fc.nat(), { minLength: size, maxLength: size }),
    maxConcurrency: fc.integer({ min: 1, max: size }),
    mode: fc.constantFrom(...JOIN_MODES),
    quorum: fc.integer({ min: 1, max: size }),
    onChildFailure: fc.constantFrom(...FAILURE_MODES),
  }),
);
type Case = typeof cases extends fc.Arbitrary<infer Value> ? Value : never;

interface Played {
  readonly family: Family;
  /** Child run ids in the order in which they were ended. */
  readonly ended: string[];
}

/** Ends children one at a time, as `picks` says, until the join is decided. */
function play({ size, ends, picks, maxConcurrency, mode, quorum, onChildFailure }: Case): Played {
  const joinPolicy = { mode, onChildFailure, ...(mode === 'quorum' && { quorum }) };
  const family = new Family(parentOf(size, { maxConcurrency, joinPolicy }), [worker]).start();
  const ended: string[] = [];
  while (family.parent.status('send') === 'running') {
    const running = runningChildren(family.parent.run);
    assert.ok(running.length > 0 && running.length <= maxConcurrency);
    assert.equal(running.length, Math.min(maxConcurrency, size - ended.length));
    assert.deepEqual(childRequests(family.parent.plan, family.parent.run), []);
    const { childRunId, index } = running[picks[ended.length]! % running.length]!;
    ended.push(childRunId);
    family.report(childRunId, { status: ends[index]!, variables: { mine: childRunId } });
    family.start();
  }
  return { family, ended };
}

const statusIn = ({ ends }: Case, childRunId: string): ChildStatus => ends[Number(childRunId.split('-')[2])]!;

test('a parallel dispatch follows its policy, merges in the order of ends, cancels exactly the losers', () => {
  fc.assert(
    fc.property(cases, (item) => {
      const { family, ended } = play(item);
      const { parent } = family;
      const { joinOutcome, mergeOrder, ...counts } = parent.payload('core.dispatch.join');
      const heard = ended.map((id) => ({ status: statusIn(item, id) }));
      const open = Array.from({ length: item.size - heard.length }, () => ({ status: 'running' as const }));
      const tally = { completed: 0, failed: 0, cancelled: 0, open: open.length };
      for (const { status } of heard) tally[status]++;
      assert.equal(joinOutcome, judgeJoin(item, tally));
      assert.deepEqual(mergeOrder, ended);
      assert.deepEqual(counts, {
        completedCount: tally.completed,
        failedCount: tally.failed,
        cancelledCount: tally.cancelled + open.length,
      });
      const completed = ended.filter((id) => statusIn(item, id) === 'completed');
      const merged = joinOutcome === 'failed' ? undefined : completed.at(-1);
      assert.equal(parent.run.variables.last, merged ?? 'nobody');
      assert.equal(parent.status('send'), joinOutcome === 'failed' ? 'failed' : 'completed');
      const started = [...family.runs.keys()].filter((id) => id !== 'parent');
      const losers = started.filter((id) => !ended.includes(id));
      assert.deepEqual(family.cancelled.sort(), losers.sort());
      if (joinOutcome === 'failed') return;
      const listed = parent.outputs('send')?.children as JsonObject[];
      assert.equal(listed.length, item.size);
      for (const { childRunId, childStatus } of listed)
        assert.equal(
          childStatus,
          ended.includes(String(childRunId)) ? statusIn(item, String(childRunId)) : 'cancelled',
        );
    }),
    { numRuns: propertyRuns(300) },
  );
});

test('the same ends in the same order merge the same', () => {
  fc.assert(
    fc.property(cases, (item) => {
      const [one, other] = [play(item), play(item)];
      assert.deepEqual(one.family.parent.run, other.family.parent.run);
    }),
    { numRuns: 50 },
  );
});
