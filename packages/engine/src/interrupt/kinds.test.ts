import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Json, JsonObject } from '@gantry/protocol';
import { DefinitionError, statusOf } from '../index.ts';
import { answer, assertSound, refusalOf } from '../testing/answers.ts';
import { edge, node, Trial, workflow } from '../testing/workflow.ts';

const ask = (config: JsonObject, typeId = 'core.interrupt') =>
  Trial.begin(workflow([node('ask', typeId, { config })]));

describe('clarification', () => {
  const questions = [
    { id: 'color', question: 'Which color?', schema: { enum: ['blue', 'red'] } },
    { id: 'size', question: 'Which size?' },
  ];
  const open = () => ask({ questions }, 'core.clarificationGate');

  for (const answers of [
    { color: 'blue', size: 4 },
    [
      { id: 'size', answer: 4 },
      { id: 'color', answer: 'blue' },
    ],
  ] as Json[])
    test(`takes ${JSON.stringify(answers)}`, () => {
      const trial = open();
      assert.equal(statusOf(trial.plan, trial.run), 'waiting-input');
      assert.equal(refusalOf(trial, 'ask', { answers }), undefined);
      assert.deepEqual(trial.outputs('ask'), { answers: { color: 'blue', size: 4 }, answeredBy: 'key-1' });
      assert.deepEqual(trial.payload('clarification.resolved').answers, { color: 'blue', size: 4 });
      assert.deepEqual(trial.payload('clarification.requested').questions, questions);
      assertSound(trial);
    });

  const wrong: [Json, string][] = [
    [null, '/resumeValue/answers'],
    [{ answers: 'blue' }, '/resumeValue/answers'],
    [{ answers: ['blue'] }, '/resumeValue/answers/size'],
    [{ answers: ['blue', 1, 2] }, '/resumeValue/answers'],
    [{ answers: { color: 'blue' } }, '/resumeValue/answers/size'],
    [{ answers: { color: 'green', size: 1 } }, '/resumeValue/answers/color'],
    [{ answers: { color: 'red', size: 1, taste: 2 } }, '/resumeValue/answers'],
  ];
  for (const [value, path] of wrong)
    test(`refuses ${JSON.stringify(value)}`, () => {
      const { refusal } = answer(open(), 'ask', value);
      assert.deepEqual([refusal?.code, refusal?.details?.path], ['validation_error', path]);
    });

  test('fails when time is over', () => {
    const trial = ask({ questions, timeoutMs: 10 }, 'core.clarificationGate').wake(1_010);
    assert.equal(trial.run.error?.code, 'interrupt_timeout');
    assert.ok(!trial.log().includes('clarification.resolved ask'));
    assertSound(trial);
  });
});

describe('external-event', () => {
  const data = { eventType: 'paid', correlation: { orderId: 'o-1', parts: [1] } };
  const open = () => ask({ kind: 'external-event', data });
  const event = { orderId: 'o-1', parts: [1], amount: 3 };

  for (const value of [
    event,
    { eventPayload: event },
    { correlation: data.correlation, eventPayload: {} },
  ] as Json[])
    test(`is heard as ${JSON.stringify(value)}`, () => {
      const trial = open();
      assert.equal(statusOf(trial.plan, trial.run), 'waiting-external');
      assert.equal(refusalOf(trial, 'ask', value), undefined);
      assert.deepEqual(trial.outputs('ask'), { output: value, resolvedBy: 'key-1' });
      assertSound(trial);
    });

  test('another event is not, and the question stays', () => {
    const trial = open();
    for (const value of [{ orderId: 'o-2', parts: [1] }, { orderId: 'o-1' }, {}])
      assert.equal(refusalOf(trial, 'ask', value), 'correlation_mismatch');
    assert.equal(refusalOf(trial, 'ask', 'paid'), 'validation_error');
    assert.equal(trial.status('ask'), 'suspended');
  });

  test('the same delivery again changes nothing, also when the node asks anew', () => {
    const wait = node('ask', 'core.interrupt', { config: { kind: 'external-event', data } });
    const trial = Trial.begin(workflow([wait, node('next')], ['ask>next', edge('next>ask')]));
    const delivery = { ...event, eventId: 'e-1' };
    answer(trial, 'ask', delivery);
    assert.deepEqual(answer(trial, 'ask', delivery).refusal, undefined);
    trial.advance();
    assert.equal(trial.run.asked.get('ask'), 2);
    const again = answer(trial, 'ask', delivery);
    assert.deepEqual([again.refusal, again.events], [undefined, []]);
    assert.equal(trial.status('ask'), 'suspended');
    assert.equal(answer(trial, 'ask', { ...delivery, eventId: 'e-2' }).events.length, 3);
    assertSound(trial);
  });
});

describe('custom', () => {
  const config = { kind: 'custom', data: { customKind: 'acme.sign', payload: [1] } };

  test('takes any JSON, unless a schema says otherwise', () => {
    for (const value of [null, 0, 'x', [1], { deep: { a: null } }] as Json[]) {
      const trial = ask(config);
      answer(trial, 'ask', value);
      assert.deepEqual(trial.outputs('ask'), { output: value, resolvedBy: 'key-1' });
      assertSound(trial);
    }
    const strict = ask({ ...config, resumeSchema: { type: 'number' } });
    assert.equal(refusalOf(strict, 'ask', 'x'), 'validation_error');
    assert.equal(refusalOf(strict, 'ask', 1), undefined);
  });

  test('an answer that the author calls sensitive is masked wherever it is told', () => {
    const secret = node('ask', 'core.interrupt', { config, outputSensitivity: { output: true } });
    const trial = Trial.begin(workflow([secret]));
    answer(trial, 'ask', 'hush-hush');
    assert.equal(trial.outputs('ask')?.output, 'hush-hush');
    for (const { payload } of trial.events) assert.ok(!JSON.stringify(payload).includes('hush-hush'));
    assertSound(trial);
  });
});

describe('low-confidence', () => {
  const decision = { next: 'ship' };
  const data = { agentId: 'core.some.agent', threshold: 0.7, observed: 0.5, decision };
  const cases: [string, Json, Json][] = [
    ['ratifies', { action: 'accept' }, decision],
    ['puts another in its place', { decision: { next: 'wait' } }, { next: 'wait' }],
    ['is the decision', { next: 'stop' }, { next: 'stop' }],
  ];
  for (const [name, value, output] of cases)
    test(`an answer ${name}`, () => {
      const trial = ask({ kind: 'low-confidence', data });
      assert.equal(trial.payload('node.suspended').reason, 'low-confidence');
      answer(trial, 'ask', value);
      assert.deepEqual(trial.outputs('ask')?.output, output);
      assertSound(trial);
    });

  test('or rejects', () => {
    const trial = ask({ kind: 'low-confidence', data });
    assert.equal(refusalOf(trial, 'ask', { action: 'shrug' }), 'validation_error');
    answer(trial, 'ask', { action: 'reject' });
    assert.equal(trial.run.error?.code, 'approval_rejected');
    assertSound(trial);
  });
});

describe('data that does not match its kind is refused', () => {
  const cases: JsonObject[] = [
    {},
    { kind: 'approval' },
    { kind: 'approval', data: { title: 'x' } },
    { kind: 'clarification', data: { questions: [] } },
    {
      kind: 'clarification',
      data: {
        questions: [
          { id: 'q', question: 'a' },
          { id: 'q', question: 'b' },
        ],
      },
    },
    { kind: 'clarification', data: { questions: [{ id: 'q', question: 'a', schema: { type: 'x' } }] } },
    { kind: 'external-event', data: { eventType: 'x' } },
    { kind: 'custom', data: { customKind: 'x', more: 1 } },
    { kind: 'low-confidence', data: { agentId: 'ab', threshold: 1, observed: 0 } },
    { kind: 'conversation.exchange', data: { conversationId: 'c', prompt: 'p' } },
    { kind: 'unheard-of', data: {} },
  ];
  for (const config of cases)
    test(JSON.stringify(config), () => assert.throws(() => ask(config), DefinitionError));
});

test('an approval asked by core.interrupt is decided like any other', () => {
  const data = { artifactId: 'a', artifactType: 't', title: 'Go?', actions: ['accept', 'reject'] };
  const trial = ask({ kind: 'approval', data });
  assert.deepEqual(trial.payload('interrupt.requested').data, data);
  answer(trial, 'ask', { action: 'reject' });
  assert.equal(trial.run.error?.code, 'approval_rejected');
  assertSound(trial);
});
