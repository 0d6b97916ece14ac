/** What commands about children do when they come late, twice, or at the wrong time. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject, RunEvent } from '@gantry/protocol';
import fc from 'fast-check';
import { propertyRuns } from '../../../protocol/src/testing/property-runs.ts';
import {
  childRequests,
  childrenToCancel,
  childWorkflows,
  explain,
  fold,
  newRun,
  runningChildren,
} from '../index.ts';
import { foldOf } from '../testing/family.ts';
import { facts, node, Trial, workflow } from '../testing/workflow.ts';

const call = (config: JsonObject = {}) =>
  node('call', 'core.subWorkflow', { config: { workflowId: 'worker', ...config } });
const starts = [{ index: 0, childRunId: 'child-1' }];

function begin(config: JsonObject = {}): Trial {
  const trial = Trial.begin(workflow([call(config)]));
  trial.give({ type: 'childrenStarted', now: trial.now, nodeId: 'call', visit: 1, starts });
  return trial;
}

const end = (trial: Trial, childRunId = 'child-1', visit = 1) =>
  trial.give({
    type: 'childEnded',
    now: trial.now,
    nodeId: 'call',
    visit,
    report: { childRunId, status: 'completed', variables: {}, sensitive: [] },
  });

describe('children of a run', () => {
  test('are asked for until their start is committed, and then waited for', () => {
    const trial = Trial.begin(workflow([call({ inputMapping: { a: 'x' }, outputMapping: { y: 'b' } })]));
    const request = { nodeId: 'call', visit: 1, index: 0, workflowId: 'worker', inputs: {}, unset: ['a'] };
    assert.deepEqual(childRequests(trial.plan, trial.run), [{ ...request, harvest: ['b'] }]);
    assert.deepEqual(childRequests(trial.plan, foldOf(trial)), childRequests(trial.plan, trial.run));
    trial.give({ type: 'childrenStarted', now: trial.now, nodeId: 'call', visit: 1, starts });
    assert.deepEqual(childRequests(trial.plan, trial.run), []);
    const running = { nodeId: 'call', visit: 1, index: 0, workflowId: 'worker', childRunId: 'child-1' };
    assert.deepEqual(runningChildren(trial.run), [running]);
    assert.deepEqual(childWorkflows(trial.plan), [{ nodeId: 'call', workflowId: 'worker' }]);
  });

  test('are started once and end once', () => {
    const trial = begin();
    const again = [{ index: 0, childRunId: 'child-2' }];
    const { events } = trial.give({
      type: 'childrenStarted',
      now: trial.now,
      nodeId: 'call',
      visit: 1,
      starts: again,
    });
    assert.deepEqual(events, []);
    assert.deepEqual(end(trial, 'child-2').events, []);
    assert.deepEqual(end(trial, 'child-1', 2).events, []);
    assert.notDeepEqual(end(trial).events, []);
    assert.deepEqual(end(trial).events, []);
  });

  test('go on while their parent is paused; their end is heard after it resumes', () => {
    const trial = begin();
    trial.give({ type: 'pause', now: trial.now, drainPolicy: 'drain-current-node' });
    const early = end(trial);
    assert.deepEqual(early.events, []);
    assert.deepEqual(early.refusal?.details, { runStatus: 'paused' });
    assert.equal(end(trial, 'child-2').refusal, undefined);
    assert.equal(runningChildren(trial.run).length, 1);
    trial.give({ type: 'resume', now: trial.now });
    assert.notDeepEqual(end(trial).events, []);
  });

  test('end with their parent, unless it lets them go on', () => {
    for (const propagateCancellation of [true, false]) {
      const trial = begin({ propagateCancellation });
      const before = trial.run;
      trial.give({ type: 'cancel', now: trial.now });
      const expected = propagateCancellation ? ['child-1'] : [];
      assert.deepEqual(childrenToCancel(trial.plan, before, trial.run), expected);
      assert.deepEqual(end(trial).events, []);
    }
  });

  test('end when the time of their node is over, and are asked for anew by its next attempt', () => {
    const settings = { timeoutMs: 50, maxRetries: 1, backoffMs: 10 };
    const trial = Trial.begin(workflow([{ ...call(), settings }]));
    trial.give({ type: 'childrenStarted', now: trial.now, nodeId: 'call', visit: 1, starts });
    const before = trial.run;
    trial.wake(1_060);
    assert.deepEqual(childrenToCancel(trial.plan, before, trial.run), ['child-1']);
    trial.wake(1_100);
    assert.equal(childRequests(trial.plan, trial.run).length, 1);
    assert.deepEqual(end(trial).events, []);
  });

  test('are not created when the run ends instead', () => {
    const trial = Trial.begin(workflow([call()]), { configurable: { runTimeoutMs: 1_000 } });
    trial.now = 5_000;
    trial.give({ type: 'childrenStarted', now: trial.now, nodeId: 'call', visit: 1, starts });
    assert.equal(trial.run.status, 'failed');
    assert.deepEqual(runningChildren(trial.run), []);
  });

  test('are wanted again in a fork that was cut while they ran', () => {
    const trial = begin();
    const fork = { sourceRunId: 'run-1', fromSeq: trial.events.length, mode: 'branch' as const };
    const forked = fold(newRun(facts({ runId: 'run-2', fork })), trial.events);
    assert.deepEqual(runningChildren(forked), []);
    assert.equal(childRequests(trial.plan, forked).length, 1);
  });

  test('are told of by explain', () => {
    const { waitingFor } = explain(begin().plan, begin().run, 2_000);
    assert.deepEqual(
      waitingFor.map(({ kind, nodeId }) => ({ kind, nodeId })),
      [{ kind: 'child', nodeId: 'call' }],
    );
    assert.match(waitingFor[0]!.text, /child-1.*\/v1\/runs\/child-1/);
  });
});

test('folding never throws, whatever events about children hold', () => {
  const names = fc.constantFrom('call', '__proto__', 'constructor', 'toString');
  const sealed = fc.dictionary(
    fc.constantFrom('visit', 'index', 'workers', 'variables', 'sensitive', 'causeSeq'),
    fc.oneof(fc.jsonValue(), fc.constantFrom(0, 1), fc.constant(['worker'])),
  );
  const payload = fc.dictionary(
    fc.constantFrom('phase', 'childRunId', 'decision', 'agentId', 'error', 'nodeId', 'typeId'),
    fc.oneof(fc.jsonValue(), fc.constantFrom('dispatch.began', 'child.completed', 'core.dispatch')),
  );
  const type = fc.constantFrom(
    'core.workflowChain.event',
    'core.dispatch.fanOut',
    'core.dispatch.join',
    'node.dispatched',
    'runOrchestrator.decided',
    'node.started',
  );
  const event = fc.record({ type, at: fc.nat(), nodeId: names, payload, sealed });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 20 }), (events) => {
      const run = fold(newRun(facts()), events as RunEvent[]);
      assert.equal(run.nextSeq, events.length);
      runningChildren(run);
    }),
    { numRuns: propertyRuns(300) },
  );
});
