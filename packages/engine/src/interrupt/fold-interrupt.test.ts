import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunEvent } from '@gantry/protocol';
import fc from 'fast-check';
import { propertyRuns } from '../../../protocol/src/testing/property-runs.ts';
import { explain, fold, newRun, runOf, snapshot } from '../index.ts';
import { key, refusalOf } from '../testing/answers.ts';
import { facts, node, plain, Trial, workflow } from '../testing/workflow.ts';

const TYPES = [
  'interrupt.requested',
  'interrupt.resolved',
  'approval.granted',
  'approval.rejected',
  'conversation.opened',
  'conversation.exchanged',
  'authorization.decided',
  'node.suspended',
  'node.resumed',
  'node.started',
];
const KEYS = [
  'nodeId',
  'gateId',
  'kind',
  'data',
  'timeoutMs',
  'principal',
  'turnIndex',
  'resumeValue',
  'agent',
];

test('folding never throws, whatever the events hold', () => {
  const anything = fc.oneof(fc.jsonValue(), fc.constantFrom('a', '__proto__', 'external-event', 'approval'));
  const payload = fc.oneof(fc.dictionary(fc.constantFrom(...KEYS), anything), anything);
  const event = fc.record({ type: fc.constantFrom(...TYPES), at: fc.nat(), payload, sealed: payload });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 20 }), (events) => {
      const run = fold(newRun(facts()), events as RunEvent[]);
      assert.equal(run.nextSeq, events.length);
      assert.deepEqual(plain(runOf(plain(run))), plain(run));
    }),
    { numRuns: propertyRuns(300) },
  );
});

test('who may answer is known from the log, and told to no reader', () => {
  const config = { requiredRole: 'admin' };
  const trial = Trial.begin(workflow([node('gate', 'core.openwop.governance.approvalGate', { config })]));
  trial.run = fold(newRun(facts()), JSON.parse(JSON.stringify(trial.events)));
  assert.equal(refusalOf(trial, 'gate', 'approved', key('eve')), 'forbidden');
  const views = [snapshot(trial.plan, trial.run), explain(trial.plan, trial.run, 0)];
  assert.ok(!JSON.stringify(views).includes('authRequired'));
});
