import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { eventId, type Json, type JsonObject, type WorkflowDefinition } from '@gantry/protocol';
import { publicValidator } from '../../../protocol/src/testing/public-schemas.ts';
import { DefinitionError, fold, newRun, snapshot, statusOf } from '../index.ts';
import { answer, assertSound, key, refusalOf } from '../testing/answers.ts';
import { node, Trial, workflow } from '../testing/workflow.ts';

const channels = { talk: { reducer: 'message' } };
const talk = (config: JsonObject = {}, extras: Partial<WorkflowDefinition> = {}) =>
  Trial.begin(workflow([node('talk', 'core.conversationGate', { config })], [], extras));
const say = (content: Json): JsonObject => ({ operation: 'exchange', turn: { content } });
const ofType = (trial: Trial, type: string) => trial.events.filter((event) => event.type === type);

/** The stricter of the two public schemas. */
function assertStrict(trial: Trial): void {
  const names = { opened: 'Opened', exchanged: 'Exchanged', closed: 'Closed' };
  for (const [type, name] of Object.entries(names)) {
    const check = publicValidator(`conversation-event.schema.json#/$defs/Conversation${name}Payload`);
    for (const { payload } of ofType(trial, `conversation.${type}`))
      assert.deepEqual(check?.(payload) ?? [], []);
  }
  assertSound(trial);
}

describe('a conversation', () => {
  test('opens, exchanges and closes under one id, turn by turn', () => {
    const trial = talk({ prompt: 'What shall it be?' });
    assert.equal(statusOf(trial.plan, trial.run), 'waiting-approval');
    assert.equal(trial.payload('node.suspended').reason, 'conversation-input');
    const suspended = trial.events.findIndex(({ type }) => type === 'node.suspended');
    assert.equal(ofType(trial, 'conversation.opened')[0]?.causationId, eventId('run-1', suspended));
    answer(trial, 'talk', say('tea'));
    answer(trial, 'talk', {
      operation: 'exchange',
      turn: { content: { milk: true }, role: 'agent', from: 'bot' },
    });
    answer(trial, 'talk', { operation: 'close', outcome: { drink: 'tea' } });
    trial.advance();
    assert.deepEqual(
      ofType(trial, 'conversation.exchanged').map(({ payload }) => payload.turnIndex),
      [1, 2],
    );
    assert.deepEqual(trial.outputs('talk'), {
      conversationId: 'run-1:talk:1',
      outcome: { drink: 'tea' },
      turnCount: 2,
      closedBy: 'key-1',
    });
    assert.deepEqual(trial.log().slice(-5), [
      'conversation.closed talk',
      'interrupt.resolved talk',
      'node.resumed talk',
      'node.completed talk',
      'run.completed',
    ]);
    assert.equal(refusalOf(trial, 'talk', say('more')), 'validation_error');
    assertStrict(trial);
  });

  const wrong: Json[] = [
    null,
    { operation: 'shout' },
    { operation: 'exchange' },
    { operation: 'exchange', turn: {} },
    { operation: 'exchange', turn: { content: 'x', turnIndex: 7 } },
    { operation: 'exchange', turn: { content: 'x', role: 'system' } },
    { operation: 'close', outcome: 'not a number' },
    { operation: 'close' },
    { operation: 'close', outcome: 1, more: true },
  ];
  for (const value of wrong)
    test(`does not take ${JSON.stringify(value)}`, () => {
      const trial = talk({ outcomeSchema: { type: 'number' } });
      assert.equal(refusalOf(trial, 'talk', value), 'validation_error');
      assert.equal(refusalOf(trial, 'talk', { operation: 'close', outcome: 1 }), undefined);
    });

  test('has a bounded number of turns', () => {
    const trial = talk({ maxTurns: 2 });
    assert.deepEqual(
      ['a', 'b', 'c'].map((text) => refusalOf(trial, 'talk', say(text))),
      [undefined, undefined, 'validation_error'],
    );
    assert.equal(refusalOf(trial, 'talk', { operation: 'close' }), undefined);
  });

  test('is closed by time as a whole, with the last word of the host', () => {
    const trial = talk({ timeoutMs: 1_000 });
    trial.now += 900;
    answer(trial, 'talk', say('slow'));
    trial.wake(2_000);
    const { outcome, finalTurn } = trial.payload('conversation.closed');
    assert.deepEqual([outcome, (finalTurn as JsonObject).role], [null, 'system']);
    assert.deepEqual([trial.run.status, trial.outputs('talk')?.reason], ['completed', 'timeout']);
    assertStrict(trial);
  });

  test('writes every turn to the channel for messages, and its state is folded', () => {
    const trial = talk({}, { channels } as Partial<WorkflowDefinition>);
    answer(trial, 'talk', say('hi'));
    const half = fold(newRun(trial.run.facts), trial.events);
    assert.equal(half.interrupts.get('talk')?.conversation?.turns, 2);
    answer(trial, 'talk', { operation: 'close', turn: { content: 'bye' } });
    const turns = snapshot(trial.plan, trial.run).channels?.talk as JsonObject[];
    assert.deepEqual(
      turns.map(({ content }) => content),
      ['talk', 'hi', 'bye'],
    );
    assertStrict(trial);
  });

  test('a channel that refuses the message fails the node', () => {
    const closed = { talk: { reducer: 'message', access: 'private' } };
    const trial = talk({}, { channels: closed } as Partial<WorkflowDefinition>);
    assert.equal(trial.run.error?.code, 'channel_access_denied');
    assertSound(trial);
  });

  test('whose answerer is another does not matter to its turns', () => {
    const trial = talk();
    answer(trial, 'talk', say('a'), key('ann'));
    answer(trial, 'talk', say('b'), key('bob'));
    assert.equal(trial.run.interrupts.get('talk')?.conversation?.turns, 3);
  });
});

describe('a conversation with itself', () => {
  const mock = { lifecycle: 'open-exchange-close', mockAutoResume: true };

  test('plays all its turns at once, and the same in a replay', () => {
    const extras = { id: 'conformance-talk', channels } as Partial<WorkflowDefinition>;
    const trial = talk({ ...mock, turnCount: 3 }, extras);
    assert.equal(trial.run.status, 'completed');
    assert.equal(ofType(trial, 'conversation.exchanged').length, 3);
    assert.equal(ofType(trial, 'conversation.closed').length, 1);
    assertStrict(trial);
    const fork = { sourceRunId: 'run-1', fromSeq: 0, mode: 'replay' } as const;
    const definition = workflow(
      [node('talk', 'core.conversationGate', { config: { ...mock, turnCount: 3 } })],
      [],
      extras,
    );
    const replay = Trial.begin(definition, { runId: 'run-2', fork });
    assert.deepEqual(snapshot(replay.plan, replay.run).channels, snapshot(trial.plan, trial.run).channels);
  });

  test('is for conformance workflows only', () => {
    assert.throws(
      () => talk(mock),
      (error) =>
        error instanceof DefinitionError &&
        error.issues[0]?.details?.requiredCapability === 'conformance.mockAgent',
    );
  });

  for (const config of [
    { lifecycle: 'open' },
    { prompt: '' },
    { maxTurns: 0 },
    { outcomeSchema: 1 },
    { channel: 'nowhere' },
    { timeoutMs: -1 },
  ] as JsonObject[])
    test(`wrong config: ${JSON.stringify(config)}`, () => assert.throws(() => talk(config), DefinitionError));
});

describe('a turn that its channel does not take', () => {
  const open = (channel: JsonObject) =>
    talk({}, { channels: { talk: { reducer: 'message', ...channel } } } as Partial<WorkflowDefinition>);

  const refused: readonly [string, JsonObject, Json, string][] = [
    ['does not fit the schema', { schema: { properties: { content: { type: 'string' } } } }, 42, 'talk'],
    ['exceeds the size', { maxSize: 2 }, 'third', 'second'],
  ];
  for (const [problem, channel, bad, good] of refused)
    test(`${problem}: nothing changes, and the conversation goes on`, () => {
      const trial = open(channel);
      if (problem === 'exceeds the size') answer(trial, 'talk', say(good));
      const before = trial.events.length;
      assert.equal(refusalOf(trial, 'talk', say(bad)), 'validation_error');
      const closing = { operation: 'close', turn: { content: bad } };
      assert.equal(refusalOf(trial, 'talk', closing), 'validation_error');
      assert.deepEqual([trial.events.length, trial.run.status], [before, 'running']);
      assert.equal(refusalOf(trial, 'talk', { operation: 'close' }), undefined);
      assert.equal(trial.advance().run.status, 'completed');
      assertStrict(trial);
    });

  test('the time ends a conversation whose channel is full', () => {
    const trial = talk({ timeoutMs: 1_000 }, {
      channels: { talk: { reducer: 'message', maxSize: 1 } },
    } as Partial<WorkflowDefinition>);
    assert.equal(trial.wake(5_000).run.status, 'completed');
  });
});

describe('what is sensitive', () => {
  const secret = 'the word';

  test('turns of a sensitive channel are masked in every event', () => {
    const channels = { talk: { reducer: 'message', sensitive: true } };
    const trial = talk({}, { channels } as Partial<WorkflowDefinition>);
    answer(trial, 'talk', { operation: 'exchange', turn: { content: secret }, outcome: secret });
    answer(trial, 'talk', { operation: 'close', turn: { content: secret } });
    assert.equal(ofType(trial, 'conversation.closed').length, 1);
    assert.doesNotMatch(JSON.stringify(trial.events.map(({ payload }) => payload)), new RegExp(secret));
    assertStrict(trial);
  });

  test('a sensitive outcome is masked in every event', () => {
    const gate = node('talk', 'core.conversationGate', { outputSensitivity: { outcome: true } });
    const trial = Trial.begin(workflow([gate]));
    answer(trial, 'talk', { operation: 'exchange', turn: { content: 'hm' }, outcome: secret });
    answer(trial, 'talk', { operation: 'close', outcome: secret });
    assert.equal(ofType(trial, 'conversation.closed').length, 1);
    assert.doesNotMatch(JSON.stringify(trial.events.map(({ payload }) => payload)), new RegExp(secret));
  });
});
