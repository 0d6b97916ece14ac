import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ChannelDeclaration, Json } from '@gantry/protocol';
import { publicValidator } from '../../../protocol/src/testing/public-schemas.ts';
import type { Command, Decision } from '../index.ts';
import { effect, node, Trial, workflow } from '../testing/workflow.ts';

type Write = Partial<Extract<Command, { type: 'writeChannel' }>>;

const SOURCE = { sourceRunId: 'run-2', sourceEngineId: 'engine-2' };

/** A run that waits for work outside, and has a channel `log`. */
const waiting = (declaration: ChannelDeclaration): Trial =>
  Trial.begin(workflow([effect('out')], [], { channels: { log: declaration } }));

const send = (trial: Trial, value: Json, extras: Write = SOURCE): Decision =>
  trial.give({ type: 'writeChannel', now: trial.now, channel: 'log', value, ...extras });

describe('a write from another run', () => {
  test('is recorded with its source, in the order of this log', () => {
    const trial = waiting({ reducer: 'append' });
    send(trial, 'a');
    send(trial, 'b', { sourceRunId: 'run-3' });
    assert.deepEqual(trial.run.channels.log?.value, ['a', 'b']);
    const payload = trial.payload('channel.written');
    assert.equal(payload.sourceEngineId, 'engine-2');
    assert.equal(payload.nodeId, undefined);
    assert.deepEqual(publicValidator('channel-written-payload.schema.json')?.(payload) ?? [], []);
  });

  test('is taken only where the order of writes does not matter', () => {
    const values: Record<string, Json> = {
      append: 1,
      counter: 1,
      votes: { userId: 'u' },
      feedback: {},
      replace: 1,
      merge: {},
      message: { messageId: '1' },
      'vendor.acme.last': 1,
    };
    const taken = Object.keys(values).filter(
      (reducer) => send(waiting({ reducer }), values[reducer]!).events.length > 0,
    );
    assert.deepEqual(taken, ['append', 'counter', 'votes', 'feedback']);
    const { refusal } = send(waiting({ reducer: 'replace' }), 1);
    assert.equal(refusal?.code, 'channel_cross_engine_write_forbidden');
    assert.deepEqual(refusal?.details, { channel: 'log', reducer: 'replace', ...SOURCE });
  });

  test('without a source it is the host itself, which may write anywhere', () => {
    const trial = waiting({ reducer: 'replace' });
    send(trial, 1, {});
    assert.equal(trial.run.channels.log?.value, 1);
  });

  test('needs the channel, access and a value that fits', () => {
    const cases: [ChannelDeclaration, Json, Write, string][] = [
      [{ reducer: 'append' }, 1, { channel: 'gone', ...SOURCE }, 'validation_error'],
      [{ reducer: 'append', access: { writers: ['core.*'] } }, 1, SOURCE, 'channel_access_denied'],
      [{ reducer: 'counter' }, 'x', SOURCE, 'validation_error'],
    ];
    for (const [declaration, value, extras, code] of cases) {
      const decision = send(waiting(declaration), value, extras);
      assert.equal(decision.refusal?.code, code);
      assert.deepEqual(decision.events, []);
    }
    assert.equal(send(waiting({ reducer: 'append', access: { writers: ['*'] } }), 1).events.length, 1);
  });

  test('waits until the run runs', () => {
    const paused = waiting({ reducer: 'append' });
    paused.give({ type: 'pause', now: 1_000, drainPolicy: 'immediate' });
    assert.equal(send(paused, 1).refusal?.code, 'conflict');
    const ended = Trial.begin(workflow([node('a')], [], { channels: { log: { reducer: 'append' } } }));
    assert.equal(send(ended, 1).refusal?.code, 'run_terminal');
    const pending = new Trial(workflow([node('a')], [], { channels: { log: { reducer: 'append' } } }));
    assert.equal(send(pending, 1).refusal?.code, 'conflict');
  });
});

describe('schema versions', () => {
  /** The channel as an older definition left it: two writes of version 1. */
  const upgraded = (declaration: Partial<ChannelDeclaration>, values: Json[] = [1, 2]): Decision => {
    const before = waiting({ reducer: 'append' });
    for (const value of values) send(before, value);
    const after = waiting({ reducer: 'append', ...declaration });
    after.run = before.run;
    return send(after, 3);
  };

  test('older writes count where the declaration vouches for them and they fit', () => {
    assert.equal(upgraded({ schemaVersion: 2, compatibleWith: [1] }).events.length, 1);
    const schema = { type: 'number' };
    assert.equal(upgraded({ schemaVersion: 2, compatibleWith: [1], schema }).events.length, 1);
    const decision = upgraded({ schemaVersion: 2, compatibleWith: [1], schema }, [1, 'old']);
    assert.equal(decision.refusal?.code, 'channel_schema_breaking_change');
  });

  test('others break, and name the first event', () => {
    const { refusal } = upgraded({ schemaVersion: 3, compatibleWith: [2] });
    assert.equal(refusal?.code, 'channel_schema_breaking_change');
    const { migrationHint, ...details } = refusal?.details ?? {};
    assert.deepEqual(details, {
      channel: 'log',
      currentSchemaVersion: 3,
      incompatibleEventVersion: 1,
      incompatibleEventId: 'run-1.2',
    });
    assert.equal(typeof migrationHint, 'string');
  });

  test('newer writes are taken as they are', () => {
    const before = waiting({ reducer: 'append', schemaVersion: 2 });
    send(before, 'new');
    const after = waiting({ reducer: 'append', schema: { type: 'number' } });
    after.run = before.run;
    assert.deepEqual(send(after, 3).run.channels.log?.value, ['new', 3]);
  });
});
