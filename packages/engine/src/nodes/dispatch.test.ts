import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  DISPATCH_EVENT_PAYLOADS,
  eventId,
  type Json,
  type JsonObject,
  misfit,
  type WorkflowDefinition,
} from '@gantry/protocol';
import { publicValidator, skipWithoutPublicData } from '../../../protocol/src/testing/public-schemas.ts';
import { compile, DefinitionError, statusOf } from '../index.ts';
import { chainOf, Family, phasesOf } from '../testing/family.ts';
import { edge, fixed, node, Trial, workflow } from '../testing/workflow.ts';

const result = (id: string, value: string): WorkflowDefinition =>
  workflow([node('work')], [], { id, variables: [{ name: 'out', type: 'string', defaultValue: value }] });
const broken = workflow([node('break', 'core.fail')], [], { id: 'broken' });
const family = [result('one', 'first'), result('two', 'second'), broken];

function parentOf(decision: Json, config: JsonObject = {}): WorkflowDefinition {
  const lead = node('lead', 'core.orchestrator.supervisor', { inputs: { decision: fixed(decision) } });
  return workflow(
    [lead, node('send', 'core.dispatch', { config }), node('after')],
    ['lead>send', 'send>after'],
    {
      variables: [{ name: 'got', type: 'string', defaultValue: '' }],
    },
  );
}
const workers = (...nextWorkerIds: string[]): JsonObject => ({ kind: 'next-worker', nextWorkerIds });
const play = (decision: Json, config: JsonObject = {}) =>
  new Family(parentOf(decision, config), family).settle();

function problems(config: JsonObject): string {
  try {
    compile(parentOf({ kind: 'terminate' }, config));
    return '';
  } catch (error) {
    assert.ok(error instanceof DefinitionError);
    return error.message;
  }
}

describe('core.dispatch', () => {
  test('workers go one after the other; the last one is the output', () => {
    const { parent } = play(workers('one', 'two'), { outputMapping: { got: 'out' } });
    assert.deepEqual(parent.outputs('send'), { childRunId: 'send-1-1', childStatus: 'completed' });
    assert.equal(parent.run.variables.got, 'second');
    const chain = ['dispatch.began', 'dispatch.succeeded', 'child.completed', 'output.harvested'];
    assert.deepEqual(phasesOf(parent), [...chain, ...chain]);
    assert.equal(parent.run.orchestrator?.dispatched, 2);
  });

  test('a failed worker fails the node, and the next one is never started', () => {
    const { parent } = play(workers('broken', 'one'));
    assert.equal(parent.run.error?.code, 'child_failed');
    assert.equal(chainOf(parent).filter(({ phase }) => phase === 'dispatch.began').length, 1);
  });

  test('each event follows from the one before it, all of them from the decision', () => {
    const { parent } = play(workers('one'), { outputMapping: { got: 'out' } });
    const at = (type: string) => parent.events.findIndex((event) => event.type === type);
    const decided = eventId('parent', at('runOrchestrator.decided'));
    const chain = parent.events.filter(({ type }) => type === 'core.workflowChain.event');
    const ids = chain.map((event) => eventId('parent', parent.events.indexOf(event)));
    assert.deepEqual(
      chain.map(({ causationId }) => causationId),
      [decided, ...ids.slice(0, -1)],
    );
    assert.equal(parent.events[at('node.dispatched')]?.causationId, decided);
  });

  test('rejects several workers where told to', () => {
    const { parent } = play(workers('one', 'two'), { fanOutPolicy: 'reject' });
    assert.equal(parent.run.error?.code, 'fan_out_unsupported');
    assert.equal(play(workers('one'), { fanOutPolicy: 'reject' }).parent.run.status, 'completed');
  });

  test('the cap counts children before any of them starts', () => {
    const { parent } = play(workers('one', 'two', 'one'), { iterationCap: 2 });
    assert.equal(parent.payload('cap.breached').kind, 'dispatch-iterations');
    assert.equal(parent.run.status, 'failed');
    assert.deepEqual(phasesOf(parent), []);
  });

  test('a decision is carried out once', () => {
    const definition = parentOf(workers('one'));
    definition.nodes.push(node('send-too', 'core.dispatch'));
    definition.edges.push(edge('after>send-too'));
    const { parent } = new Family(definition, family).settle();
    assert.equal(parent.run.error?.code, 'no_pending_decision');
    assert.equal(parent.events.filter(({ type }) => type === 'node.dispatched').length, 1);
  });

  test('without a decision there is nothing to do', () => {
    const definition = parentOf(workers('one'));
    definition.edges = [edge('send>lead')];
    assert.equal(Trial.begin(definition).run.error?.code, 'no_pending_decision');
  });

  test('a question goes to the user, and the answer is the output', () => {
    const ask = { kind: 'ask-user', prompt: 'Which one?' };
    const asked = play(ask, { askUserRouting: 'clarification' });
    assert.equal(statusOf(asked.parent.plan, asked.parent.run), 'waiting-input');
    asked.answer('send', { answers: { answer: 'blue' } });
    assert.deepEqual(asked.parent.outputs('send'), { output: 'blue' });
    for (const routing of ['conversation', 'auto'])
      assert.equal(
        play(ask, { askUserRouting: routing }).parent.payload('conversation.opened').initialTurn != null,
        true,
      );
    const talk = play(ask);
    const opened = talk.parent.payload('conversation.opened').initialTurn as JsonObject;
    assert.equal(opened.content, 'Which one?');
    talk.answer('send', { operation: 'close', outcome: 'red' });
    assert.deepEqual(talk.parent.outputs('send'), { output: 'red' });
  });

  test('config is closed and checked', () => {
    assert.match(problems({ speed: 1 }), /speed/);
    assert.match(problems({ fanOutPolicy: 'broadcast' }), /fanOutPolicy/);
    assert.match(problems({ workerDispatchModel: 'same-run' }), /child-run/);
    assert.match(problems({ joinPolicy: {} }), /parallel/);
    assert.match(problems({ maxConcurrency: 0 }), /maxConcurrency/);
    const join = (joinPolicy: JsonObject) => problems({ fanOutPolicy: 'parallel', joinPolicy });
    assert.match(join({ mode: 'any' }), /mode/);
    assert.match(join({ mode: 'quorum' }), /quorum/);
    assert.match(join({ onChildFailure: 'explode' }), /onChildFailure/);
    assert.match(join({ extra: 1 }), /extra/);
    assert.equal(join({ mode: 'quorum', quorum: 1 }), '');
    assert.throws(() => compile(workflow([node('send', 'core.dispatch')])), /supervisor/);
  });
});

describe('core.dispatch in parallel', () => {
  const parallel = { fanOutPolicy: 'parallel' };

  test('collects what its children became', () => {
    const { parent } = play(workers('one', 'broken', 'nowhere'), parallel);
    const { joinOutcome, children } = parent.outputs('send') as {
      joinOutcome: string;
      children: JsonObject[];
    };
    assert.equal(joinOutcome, 'partial');
    assert.deepEqual(
      children.map(({ workflowId, childStatus }) => [workflowId, childStatus]),
      [
        ['one', 'completed'],
        ['broken', 'failed'],
        ['nowhere', 'failed'],
      ],
    );
  });

  test('a worker that cannot be started trips fail-fast before the others start', () => {
    const joinPolicy = { onChildFailure: 'fail-fast' };
    const { parent, runs } = play(workers('one', 'nowhere'), { ...parallel, joinPolicy });
    assert.equal(parent.run.error?.code, 'child_failed');
    assert.equal(runs.size, 1);
    assert.equal(parent.events.filter(({ type }) => type === 'node.dispatched').length, 0);
  });

  test('one worker alone is no fan-out', () => {
    const { parent } = play(workers('one'), parallel);
    assert.equal(parent.outputs('send')?.joinOutcome, 'satisfied');
    assert.ok(!parent.log().some((line) => line.startsWith('core.dispatch.')));
  });

  test('a quorum that can never be met starts nobody', () => {
    const joinPolicy = { mode: 'quorum', quorum: 3 };
    const { parent, runs } = play(workers('one', 'two'), { ...parallel, joinPolicy });
    assert.equal(parent.run.error?.code, 'validation_error');
    assert.equal(runs.size, 1);
  });

  test('events fit the public schemas', { skip: skipWithoutPublicData }, () => {
    const index = publicValidator('run-event-payloads.schema.json#/$defs/_typeIndex')!;
    const { parent } = play(workers('one', 'broken', 'nowhere'), {
      ...parallel,
      outputMapping: { got: 'out' },
    });
    for (const { type, payload } of parent.events) {
      if (type === 'core.dispatch.fanOut' || type === 'core.dispatch.join')
        assert.equal(misfit(DISPATCH_EVENT_PAYLOADS[type], payload), undefined);
      else assert.deepEqual(index({ [type]: payload }), [], type);
    }
    const decisionAt = parent.events.findIndex(({ type }) => type === 'runOrchestrator.decided');
    for (const type of ['core.dispatch.fanOut', 'core.dispatch.join'])
      assert.equal(
        parent.events.find((event) => event.type === type)?.causationId,
        eventId('parent', decisionAt),
      );
  });
});
