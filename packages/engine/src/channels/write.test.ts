import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ChannelDeclaration, Json } from '@gantry/protocol';
import { publicValidator } from '../../../protocol/src/testing/public-schemas.ts';
import { fold, newRun, snapshot } from '../index.ts';
import { chain, channelValue, errorOf, write } from '../testing/channels.ts';
import { facts, formula, node, Trial, workflow } from '../testing/workflow.ts';
import { ENTRIES_MAX } from './write.ts';

describe('writing', () => {
  test('events carry the write, and fold to the same value through JSON', () => {
    const trial = Trial.begin(chain({ reducer: 'append', schemaVersion: 2 }, ['a', 'b']));
    assert.deepEqual(trial.payload('channel.written', 1), {
      channel: 'log',
      value: 'b',
      reducer: 'append',
      writtenAt: new Date(trial.now).toISOString(),
      schemaVersion: 2,
      nodeId: 'w1',
    });
    assert.deepEqual(channelValue(trial), ['a', 'b']);
    assert.equal(trial.run.status, 'completed');
    assert.deepEqual(fold(newRun(facts()), JSON.parse(JSON.stringify(trial.events))), trial.run);
  });

  test('what a reducer cannot take, or a schema does not allow, fails the node and changes nothing', () => {
    for (const [declaration, value] of [
      [{ reducer: 'counter' }, 'one'],
      [{ reducer: 'replace', schema: { type: 'number' } }, 'one'],
      [{ reducer: 'votes', schema: { type: 'array', items: { required: ['action'] } } }, { userId: 'u' }],
      [
        { reducer: 'merge', maxSize: 1 },
        { a: 1, b: 2 },
      ],
      [{ reducer: 'replace', maxSize: 3 }, 'long'],
    ] as [ChannelDeclaration, Json][]) {
      const trial = Trial.begin(chain(declaration, [value]));
      assert.equal(errorOf(trial), 'validation_error', JSON.stringify(declaration));
      assert.deepEqual(trial.run.channels, {});
    }
  });

  test('a schema of type array on a list of objects is the list', () => {
    const declaration = { reducer: 'message', schema: { type: 'array', items: { required: ['role'] } } };
    const trial = Trial.begin(chain(declaration, [{ messageId: '1', role: 'user' }]));
    assert.deepEqual(channelValue(trial), [{ messageId: '1', role: 'user' }]);
  });

  test('messages over maxSize are refused, entries of other lists make room', () => {
    const messages = ['1', '2'].map((messageId) => ({ messageId }));
    assert.equal(
      errorOf(Trial.begin(chain({ reducer: 'message', maxSize: 1 }, messages))),
      'validation_error',
    );
    assert.deepEqual(channelValue(Trial.begin(chain({ reducer: 'append', maxSize: 1 }, [1, 2]))), [2]);
  });

  test('a list without a bound ends at the limit of the host', () => {
    const trial = Trial.begin(chain({ reducer: 'append' }, [1]));
    const full = Array.from({ length: ENTRIES_MAX }, (_, index) => index);
    const again = new Trial(chain({ reducer: 'append' }, [1])).start();
    again.run = { ...again.run, channels: { log: { value: full, schemaVersion: 1, schemaSeq: 1 } } };
    again.advance();
    assert.equal(trial.run.status, 'completed');
    assert.equal(errorOf(again), 'validation_error');
  });

  test('state beyond 16 MiB is refused', () => {
    const half = 'x'.repeat(9 * 1_048_576);
    assert.equal(errorOf(Trial.begin(chain({ reducer: 'append' }, [half, half]))), 'payload_too_large');
  });

  test('an input goes before the config; without a value the node fails', () => {
    const dynamic = write('w', 'config', { inputs: { value: formula('1 + 1') } });
    const trial = Trial.begin(workflow([dynamic], [], { channels: { log: { reducer: 'counter' } } }));
    assert.equal(channelValue(trial), 2);
    const optional = { type: 'variable', variableName: 'gone', optional: true } as const;
    const without = node('w', 'core.channelWrite', {
      config: { channelName: 'log' },
      inputs: { value: optional },
    });
    const variables = [{ name: 'gone', type: 'string' as const }];
    assert.equal(errorOf(Trial.begin(workflow([without], [], { variables }))), 'input_unresolved');
  });
});

describe('time to live', () => {
  const delay = node('wait', 'core.delay', { config: { ms: 300 } });
  const config = { reducer: 'append', ttlMs: 200 };
  const nodes = [
    write('a', 'a', { config }),
    write('b', 'b', { config }),
    delay,
    write('c', 'c', { config }),
  ];
  const definition = workflow(nodes, ['a>b', 'b>wait', 'wait>c']);

  test('a write drops what is too old by the time of the events, in the log as in the state', () => {
    const trial = Trial.begin(definition);
    assert.deepEqual(channelValue(trial), [
      { value: 'a', _ts: 1_000 },
      { value: 'b', _ts: 1_000 },
    ]);
    trial.wake(1_300);
    const expected = [{ value: 'c', _ts: 1_300 }];
    assert.deepEqual(channelValue(trial), expected);
    assert.deepEqual(snapshot(trial.plan, trial.run).variables, { log: expected });
    assert.deepEqual(trial.payload('channel.written', 2).value, expected[0]);
    assert.deepEqual(fold(newRun(facts()), JSON.parse(JSON.stringify(trial.events))), trial.run);
  });

  test('an entry that is exactly as old as allowed stays', () => {
    const kept = new Trial(
      workflow(
        [
          write('a', 'a', { config }),
          node('wait', 'core.delay', { config: { ms: 200 } }),
          write('b', 'b', { config }),
        ],
        ['a>wait', 'wait>b'],
      ),
    )
      .start()
      .advance()
      .wake(1_200);
    assert.deepEqual(channelValue(kept), [
      { value: 'a', _ts: 1_000 },
      { value: 'b', _ts: 1_200 },
    ]);
  });
});

test('events and snapshots fit the public schemas', () => {
  const payloads = publicValidator('channel-written-payload.schema.json');
  const snapshots = publicValidator('run-snapshot.schema.json');
  const writes: [string, Json][] = [
    ['replace', null],
    ['append', 1],
    ['merge', {}],
    ['counter', 1],
    ['votes', { userId: 'u' }],
    ['feedback', { feedback: 'x' }],
    ['vendor.acme.last', 'x'],
  ];
  for (const [reducer, value] of writes)
    for (const sensitive of [false, true]) {
      const trial = Trial.begin(chain({ reducer, sensitive }, [value]));
      assert.deepEqual(payloads?.(trial.payload('channel.written')) ?? [], [], reducer);
      assert.deepEqual(snapshots?.(snapshot(trial.plan, trial.run)) ?? [], []);
    }
});
