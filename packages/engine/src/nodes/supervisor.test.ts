import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject, WorkflowDefinition, WorkflowNode } from '@gantry/protocol';
import { publicValidator, skipWithoutPublicData } from '../../../protocol/src/testing/public-schemas.ts';
import { compile, DefinitionError, type RunFacts, snapshot, statusOf } from '../index.ts';
import { Family } from '../testing/family.ts';
import { effect, fixed, formula, node, Trial, workflow } from '../testing/workflow.ts';

const lead = (inputs: WorkflowNode['inputs'] = {}, extras: Partial<WorkflowNode> = {}): WorkflowNode =>
  node('lead', 'core.orchestrator.supervisor', { inputs, ...extras });
const worker = workflow([node('work')], [], { id: 'worker' });
const next = { kind: 'next-worker', nextWorkerIds: ['worker'] };
const terminate = { kind: 'terminate', reason: 'goal-reached' };

const loopOf = (inputs: WorkflowNode['inputs'], config: JsonObject = {}): WorkflowDefinition =>
  workflow([lead(inputs, { config }), node('send', 'core.dispatch')], ['lead>send', 'send>lead']);
const play = (definition: WorkflowDefinition, extras: Partial<RunFacts> = {}): Family =>
  new Family(definition, [worker], extras).settle();

function issuesOf(definition: WorkflowDefinition) {
  try {
    compile(definition);
    return [];
  } catch (error) {
    assert.ok(error instanceof DefinitionError);
    return error.issues;
  }
}

describe('core.orchestrator.supervisor', () => {
  test('decides by an input, turn by turn', () => {
    const decision = formula('variables.rounds < 8 ? variables.next : variables.last');
    const count = node('count', 'core.setVariable', {
      config: { name: 'rounds', expression: 'variables.rounds + 1' },
    });
    const definition = workflow(
      [count, lead({ decision }), node('send', 'core.dispatch')],
      ['count>lead', 'lead>send', 'send>count'],
      {
        settings: { maxLoopbackIterations: 100 },
        variables: [
          { name: 'rounds', type: 'number', defaultValue: 0 },
          { name: 'next', type: 'object', defaultValue: next },
          { name: 'last', type: 'object', defaultValue: terminate },
        ],
      },
    );
    const { parent } = play(definition);
    const decided = parent.events.filter(({ type }) => type === 'runOrchestrator.decided');
    assert.deepEqual(
      decided.map(({ payload }) => payload.iteration),
      [1, 2, 3, 4, 5, 6, 7, 8],
    );
    assert.equal(parent.run.status, 'completed');
    assert.equal(snapshot(parent.plan, parent.run).outputs?.reason, 'goal-reached');
  });

  test('terminates by itself where no dispatch follows: what is under way ends, the rest is skipped', () => {
    const definition = workflow(
      [lead({ decision: fixed(terminate) }), node('b'), effect('a')],
      ['lead>b', 'a>b'],
    );
    const trial = Trial.begin(definition);
    assert.deepEqual(
      [trial.status('lead'), trial.status('a'), trial.status('b')],
      ['completed', 'cancelled', 'skipped'],
    );
    assert.equal(trial.run.status, 'completed');
    assert.deepEqual(trial.run.outputs, { reason: 'goal-reached' });
  });

  test('turns are bounded by the caller, by the host and by its own cap', () => {
    const cases = [
      [{ configurable: { maxLoopIterations: 6 } }, {}, 6, 'loop-iterations'],
      [{}, { iterationCap: 7 }, 7, 'orchestrator-iterations'],
    ] as const;
    for (const [extras, config, limit, kind] of cases) {
      const { parent } = play(loopOf({ decision: fixed(next) }, config), extras);
      assert.equal(parent.run.error?.code, 'loop_limit_exceeded');
      assert.deepEqual(parent.run.error?.details, { iteration: limit + 1, limit });
      const { nodeId: _nodeId, ...breach } = parent.payload('cap.breached');
      assert.deepEqual(breach, { kind, limit, observed: limit + 1 });
    }
  });

  test('one agent leads a run', () => {
    const other = node('other', 'core.orchestrator.supervisor', {
      inputs: { decision: fixed(next) },
      agent: { agentId: 'acme.other' },
    });
    const definition = workflow([lead({ decision: fixed(next) }), other], ['lead>other']);
    const trial = Trial.begin(definition);
    assert.equal(trial.run.error?.code, 'validation_error');
    assert.equal(trial.run.orchestrator?.agentId, 'core.orchestrator.supervisor');
  });

  test('what is no decision fails the node', () => {
    for (const decision of [
      { kind: 'dance' },
      { ...next, extra: 1 },
      { ...next, confidence: 2 },
      'terminate',
    ])
      assert.equal(
        Trial.begin(loopOf({ decision: formula(JSON.stringify(decision)) })).run.error?.code,
        'validation_error',
        JSON.stringify(decision),
      );
    assert.throws(
      () => Trial.begin(loopOf({ decision: fixed({ kind: 'next-worker', workers: ['a'] }) })),
      /\/nodes\/0\/inputs\/decision\/value: A decision of kind next-worker has no workers/,
    );
  });

  test('a decision of low confidence waits; a rejection fails it, nonsense is asked again', () => {
    const unsure = loopOf({ decision: fixed(terminate), confidence: fixed(0.6) });
    const family = play(unsure);
    const { parent } = family;
    assert.equal(statusOf(parent.plan, parent.run), 'waiting-approval');
    family.answer('lead', { nonsense: true });
    assert.equal(statusOf(parent.plan, parent.run), 'waiting-approval');
    family.answer('lead', { action: 'accept' });
    assert.deepEqual(parent.payload('runOrchestrator.decided').decision, terminate);
    assert.equal(parent.run.status, 'completed');
    assert.equal(play(unsure).answer('lead', { action: 'reject' }).parent.run.status, 'failed');
    assert.equal(play(unsure, { configurable: { escalationThreshold: 0.6 } }).parent.run.status, 'completed');
  });

  test('a decision below the floor is not carried out unasked', () => {
    const unsure = loopOf({ decision: fixed({ ...terminate, confidence: 0.49 }) });
    const { parent } = play(unsure);
    assert.equal(parent.payload('core.workflowChain.confidence-escalated').workerId, undefined);
    assert.equal(play(unsure).answer('lead', { action: 'accept' }).parent.run.status, 'completed');
    const rejected = play(unsure).answer('lead', { action: 'reject' }).parent;
    assert.equal(rejected.run.error?.code, 'approval_rejected');
    assert.equal(
      play(loopOf({ decision: fixed({ ...terminate, confidence: 0.5 }) })).parent.run.status,
      'completed',
    );
  });

  test('is refused where nothing can decide, and scripts outside conformance workflows', () => {
    const [nobody] = issuesOf(loopOf({}));
    assert.equal(nobody?.details?.requiredCapability, 'agents.liveRuntime');
    const [scripted] = issuesOf(workflow([lead({}, { config: { mockDecisions: [terminate] } })]));
    assert.equal(scripted?.code, 'capability_required');
    assert.equal(scripted?.details?.requiredCapability, 'conformance.mockAgent');
    const wrong = workflow([lead({}, { config: { mockDecisions: [{ kind: 'x' }] } })], [], {
      id: 'conformance-x',
    });
    assert.match(issuesOf(wrong)[0]?.message ?? '', /scripted/);
  });

  test('its events fit the public schemas', { skip: skipWithoutPublicData }, () => {
    const index = publicValidator('run-event-payloads.schema.json#/$defs/_typeIndex')!;
    const unsure = loopOf({ decision: fixed({ ...next, confidence: 0.1 }) });
    const trials = [play(unsure).parent, play(loopOf({ decision: fixed(terminate) })).parent];
    for (const { type, payload } of trials.flatMap(({ events }) => events))
      if (type !== 'interrupt.requested') assert.deepEqual(index({ [type]: payload }), [], type);
  });
});
