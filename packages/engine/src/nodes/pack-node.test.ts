import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { eventId, type JsonObject } from '@gantry/protocol';
import {
  type Command,
  compile,
  DefinitionError,
  executions,
  type Outcome,
  type PackNodeType,
} from '../index.ts';
import { answer, assertSound } from '../testing/answers.ts';
import { branch, replay } from '../testing/forks.ts';
import { edge, fixed, node, Trial, workflow } from '../testing/workflow.ts';

const pack = (more: Partial<PackNodeType> = {}): PackNodeType => ({
  typeId: 'vendor.acme.work',
  packName: 'vendor.acme.tools',
  packVersion: '1.2.3',
  integrity: 'sha256-abc',
  effect: 'pure',
  sensitiveOutputs: [],
  ...more,
});

const offering = (...types: PackNodeType[]) => ({
  packTypes: (typeId: string) => types.find((type) => type.typeId === typeId),
});

const one = (extras = {}) => workflow([node('a', 'vendor.acme.work', extras)]);
const begin = (definition = one(), type = pack()): Trial =>
  new Trial(definition, {}, offering(type)).start().advance();

const settle = (trial: Trial, outcome: Outcome, about: Partial<Extract<Command, { type: 'settle' }>> = {}) =>
  trial.give({ type: 'settle', now: trial.now, nodeId: 'a', attempt: 0, visit: 1, outcome, ...about });

const ask = (trial: Trial, key: string, request: JsonObject): void => {
  settle(trial, { suspend: { key, request } });
  assert.equal(trial.run.nodes.get('a')?.status, 'suspended');
};
const answersOf = (trial: Trial) => executions(trial.plan, trial.run)[0]?.pack?.answers;

describe('node types of packs', () => {
  test('are compiled, never in place of the host own, and unknown ones are refused', () => {
    assert.equal(begin().plan.nodes.get('a')?.pack?.packVersion, '1.2.3');
    const shadow = compile(workflow([node('a')]), offering(pack({ typeId: 'core.noop' })));
    assert.equal(shadow.nodes.get('a')?.pack, undefined);
    assert.throws(() => compile(one(), offering()), DefinitionError);
  });

  test('hold config to its schema at registration and inputs when they are known', () => {
    const schema = { type: 'object', required: ['url'], properties: { url: { type: 'string' } } };
    assert.throws(() => begin(one({ config: { url: 1 } }), pack({ configSchema: schema })), DefinitionError);
    const inputs = pack({ inputSchema: schema });
    assert.equal(begin(one(), inputs).run.error?.code, 'validation_error');
    assert.equal(begin(one({ inputs: { url: fixed('x') } }), inputs).run.nodes.get('a')?.status, 'running');
    assert.equal(begin(one({ config: { url: 'x' } }), inputs).run.nodes.get('a')?.status, 'running');
  });

  test('get the inputs of the run where nothing is mapped: those they name, no secrets, not what config has', () => {
    const variables = [
      { name: 'name', type: 'string', defaultValue: 'world' },
      { name: 'city', type: 'string' },
      { name: 'token', type: 'string', sensitive: true },
    ] as const;
    const given = { city: 'Oslo', token: 'not-for-packs' };
    const inputsOf = (extras: JsonObject, type = pack()): JsonObject | undefined => {
      const definition = workflow([node('a', 'vendor.acme.work', extras)], [], { variables: [...variables] });
      const trial = new Trial(definition, { inputs: given }, offering(type)).start().advance();
      return executions(trial.plan, trial.run)[0]?.inputs;
    };
    assert.deepEqual(inputsOf({}), { name: 'world', city: 'Oslo' });
    assert.deepEqual(inputsOf({ config: { city: 'Rome' } }), { name: 'world' });
    assert.deepEqual(inputsOf({ inputs: { other: fixed('x') } }), { other: 'x' });
    const inputSchema = {
      type: 'object',
      properties: { city: { type: 'string' } },
      additionalProperties: false,
    };
    assert.deepEqual(inputsOf({}, pack({ inputSchema })), { city: 'Oslo' });
  });

  test('what goes outside names the pack, and masks what the manifest calls sensitive', () => {
    const trial = begin(one(), pack({ effect: 'effect', sensitiveOutputs: ['token'] }));
    const [execution] = executions(trial.plan, trial.run);
    assert.equal(execution?.pack?.packName, 'vendor.acme.tools');
    assert.equal(execution?.pack?.effect, 'effect');
    settle(trial, { ok: true, outputs: { token: 'secret', size: 1 } });
    assert.ok(!JSON.stringify(trial.events.map(({ payload }) => payload)).includes('secret'));
    assert.equal(trial.advance().run.status, 'completed');
  });
});

describe('questions of pack code', () => {
  test('an approval reaches the pack in its own words, and a rejection does not fail the node', () => {
    const trial = begin();
    ask(trial, 'k', { kind: 'approval', prompt: 'Ship it?', metadata: { size: 1 } });
    assert.equal(trial.run.interrupts.get('a')?.data.title, 'Ship it?');
    answer(trial, 'a', { action: 'reject' });
    const { k } = answersOf(trial) as { k: JsonObject };
    assert.equal(k.decision, 'reject');
    assert.equal(k.approved, false);
    settle(trial, { ok: true, outputs: { shipped: false } });
    assert.equal(trial.advance().run.status, 'completed');
    assertSound(trial);
  });

  test('several questions keep their answers by key, also over a retry', () => {
    const trial = begin(one({ settings: { maxRetries: 1, backoffMs: 0 } }));
    ask(trial, 'first', { kind: 'clarification', profile: 'openwop-chat', prompt: 'Name?' });
    answer(trial, 'a', { answers: { answer: 'Ada' } });
    ask(trial, 'second', { reason: 'conversation-input', resumeKey: 'p', answerSchema: { type: 'object' } });
    assert.equal(answer(trial, 'a', 'no object').refusal?.code, 'validation_error');
    answer(trial, 'a', { size: 2 });
    settle(trial, { ok: false, retryable: true, error: { code: 'busy', message: 'busy' } });
    trial.wake(trial.now + 10);
    const { first, second } = answersOf(trial) as { first: JsonObject; second: JsonObject };
    assert.equal(first.answer, 'Ada');
    assert.deepEqual(second.answers, { size: 2 });
    assertSound(trial);
  });

  test('a wait ends by the clock, and says so', () => {
    const trial = begin();
    ask(trial, 'w', { kind: 'duration', seconds: 5 });
    trial.wake(trial.now + 4_999);
    assert.equal(trial.run.nodes.get('a')?.status, 'suspended');
    trial.wake(trial.now + 1);
    assert.equal((answersOf(trial) as { w: JsonObject }).w.timedOut, true);
  });

  test('code that suspends in a circle is stopped', () => {
    const trial = begin();
    for (let round = 0; round < 1_000; round++) {
      ask(trial, `k${round}`, { kind: 'duration', seconds: 0 });
      trial.wake(trial.now);
    }
    settle(trial, { suspend: { key: 'more', request: { kind: 'duration', seconds: 0 } } });
    assert.equal(trial.run.error?.code, 'suspension_limit_exceeded');
  });

  for (const request of [
    { kind: 'approval', quorum: 3, approvers: ['x'] },
    { kind: 'webhook', signatureHint: null },
    { kind: 'until', timestamp: 'never' },
    { reason: 'low-confidence', resumeKey: 'k', threshold: 2 },
    { kind: 'clarification', profile: 'openwop-form', formSchema: {} },
    {},
  ])
    test(`${JSON.stringify(request)} becomes a question that fits the protocol`, () => {
      const trial = begin();
      ask(trial, 'k', request);
      assertSound(trial);
    });
});

describe('what pack code tells and how it ends', () => {
  const told = (trial: Trial, events: Extract<Command, { type: 'emit' }>['events'], attempt = 0) =>
    trial.give({ type: 'emit', now: trial.now, nodeId: 'a', visit: 1, attempt, events }).events;

  test('logs and chunks stand in the log in order, under the name of the node', () => {
    const trial = begin();
    const events = told(trial, [
      { type: 'log.appended', payload: { level: 'info', message: 'hi', nodeId: 'other' } },
      { type: 'output.chunk', payload: { chunk: 'x', isLast: true, runId: 'other' } },
    ]);
    assert.deepEqual(
      events.map(({ payload }) => [payload.nodeId, payload.runId]),
      [
        ['a', undefined],
        ['a', 'run-1'],
      ],
    );
    settle(trial, { ok: true, outputs: {} });
    assertSound(trial);
  });

  test('the return of a tool follows from its call, which is told once', () => {
    const trial = begin();
    const about = { agentId: 'core.system', toolName: 'http.safeFetch', callId: 'c' };
    const called = { type: 'agent.toolCalled', payload: about } as const;
    const returned = { type: 'agent.toolReturned', payload: { ...about, status: 'ok' } } as const;
    const seq = trial.run.nextSeq;
    assert.equal(told(trial, [called]).length, 1);
    assert.deepEqual(told(trial, [called]), []);
    const [only, ...more] = told(trial, [called, returned]);
    assert.deepEqual([only?.type, more, only?.causationId], [returned.type, [], eventId('run-1', seq)]);
    assert.equal(trial.run.toolCalls, undefined);
    // One that never began
    assert.equal(told(trial, [returned])[0]?.causationId, undefined);
    settle(trial, { ok: true, outputs: {} });
    assertSound(trial);
  });

  test('too much, too large and too late is left out', () => {
    const trial = begin();
    const line = { type: 'log.appended', payload: { level: 'info', message: 'x' } } as const;
    assert.equal(told(trial, Array(500).fill(line)).length, 200);
    const big = { ...line, payload: { ...line.payload, message: 'x'.repeat(100_000) } };
    assert.equal(told(trial, [big]).length, 0);
    assert.equal(told(trial, [line], 1).length, 0);
  });

  test('what was told during a pause stands before the ending that waited with it', () => {
    const trial = begin();
    const line = { type: 'log.appended', payload: { level: 'info', message: 'held' } } as const;
    const outcome: Outcome = { ok: true, outputs: {}, untold: [line] };
    trial.give({ type: 'pause', now: trial.now, drainPolicy: 'drain-current-node' });
    assert.deepEqual(told(trial, [line]), []);
    settle(trial, outcome);
    assert.equal(trial.events.at(-1)?.type, 'run.paused');
    trial.give({ type: 'resume', now: trial.now });
    settle(trial, outcome);
    assert.deepEqual(trial.log().slice(-3), ['run.resumed', 'log.appended a', 'node.completed a']);
    assertSound(trial);
  });

  test('terminate ends the run past any edge that would handle a failure', () => {
    const definition = workflow(
      [node('a', 'vendor.acme.work'), node('b')],
      [edge('a>b', { triggerRule: 'any_failed' })],
    );
    const trial = begin(definition);
    settle(trial, { terminate: { code: 'STOP', message: 'enough' } });
    assert.equal(trial.run.status, 'failed');
    assert.equal(trial.run.error?.code, 'STOP');
    assert.equal(trial.run.nodes.get('b'), undefined);
  });
});

describe('a run with pack nodes', () => {
  const lived = (): Trial => {
    const trial = begin();
    trial.give({
      type: 'emit',
      now: trial.now,
      nodeId: 'a',
      visit: 1,
      attempt: 0,
      events: [{ type: 'log.appended', payload: { level: 'info', message: 'asking' } }],
    });
    ask(trial, 'k', { kind: 'approval', prompt: 'Go?' });
    trial.now += 1_000;
    answer(trial, 'a', { action: 'accept' });
    settle(trial, { terminate: { code: 'STOP', message: 'enough' } });
    return trial;
  };

  test('is replayed from its record, questions and endings included', () => {
    const trial = lived();
    const replayed = replay(trial);
    assert.equal(replayed.divergedAt, undefined);
    assert.deepEqual(
      replayed.events.map(({ type }) => type),
      trial.events.map(({ type }) => type),
    );
    assert.equal(replayed.run.error?.code, 'STOP');
  });

  test('is branched with the answers that it had', () => {
    const trial = lived();
    const resumed = trial.events.findIndex(({ type }) => type === 'node.resumed') + 1;
    const [execution] = executions(trial.plan, branch(trial, resumed).run);
    assert.deepEqual(Object.keys(execution?.pack?.answers ?? {}), ['k']);
  });
});
