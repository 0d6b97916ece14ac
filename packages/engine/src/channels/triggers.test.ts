import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject, WorkflowDefinition } from '@gantry/protocol';
import {
  channelTriggers,
  isFromTrigger,
  type RunFacts,
  type TriggerFiring,
  triggersFiredBy,
} from '../index.ts';
import { issuesOf, write } from '../testing/channels.ts';
import { facts, node, Trial, workflow } from '../testing/workflow.ts';

type Trigger = WorkflowDefinition['triggers'][number];

const trigger = (config: JsonObject, extras: Partial<Trigger> = {}): Trigger => ({
  id: 'tally',
  type: 'channel-write',
  config: { channel: 'log', ...config },
  ...extras,
});

const watched = (triggers: Trigger[]): WorkflowDefinition =>
  workflow([write('w0', 1), write('w1', 2, {}, 'other')], ['w0>w1'], {
    channels: { log: { reducer: 'append' }, other: { reducer: 'append' } },
    triggers,
  });

/** What the run's own two writes fire, then what a write from another run fires. */
function fired(config: JsonObject, extras: Partial<RunFacts> = {}, fromTrigger = false): TriggerFiring[][] {
  const trial = new Trial(watched([trigger(config)]), extras).start();
  const own = trial.give({ type: 'advance', now: 5, maxEvents: 6 });
  const foreign = trial.give({
    type: 'writeChannel',
    now: 6,
    channel: 'log',
    value: 3,
    sourceRunId: 'run-2',
    ...(fromTrigger && { fromTrigger: true as const }),
  });
  return [own, foreign].map((decision) => triggersFiredBy(trial.plan, decision));
}

const ids = (firings: TriggerFiring[][]): string[][] =>
  firings.map((list) => list.map(({ eventId }) => eventId));

describe('channel-write triggers', () => {
  test('are listed with what they leave out, unless disabled', () => {
    const other = trigger({ onlyFrom: 'child', debounceMs: 10 }, { id: 'b', nodeId: 'w0' });
    const trial = new Trial(watched([trigger({}), other, trigger({}, { id: 'c', enabled: false })]));
    assert.deepEqual(channelTriggers(trial.plan), [
      { triggerId: 'tally', channel: 'log', onlyFrom: 'any', debounceMs: 0 },
      { triggerId: 'b', channel: 'log', onlyFrom: 'child', debounceMs: 10, nodeId: 'w0' },
    ]);
  });

  test('must be sound', () => {
    const bad: [Trigger, string][] = [
      [trigger({ channel: 'gone' }), '/triggers/0/config/channel'],
      [trigger({ onlyFrom: 'me' }), '/triggers/0/config/onlyFrom'],
      [trigger({ debounceMs: 60_001 }), '/triggers/0/config/debounceMs'],
      [trigger({}, { nodeId: 'gone' }), '/triggers/0/nodeId'],
    ];
    for (const [item, path] of bad) assert.deepEqual(issuesOf(watched([item])), [path]);
  });

  test('fire on the writes they ask for', () => {
    assert.deepEqual(ids(fired({})), [['run-1.2'], ['run-1.7']]);
    assert.deepEqual(ids(fired({ onlyFrom: 'parent' })), [['run-1.2'], []]);
    assert.deepEqual(ids(fired({ onlyFrom: 'child' })), [[], ['run-1.7']]);
    assert.deepEqual(ids(fired({ channel: 'other' })), [['run-1.5'], []]);
  });

  test('a debounce waits, and takes the last of a batch', () => {
    const definition = workflow([write('w0', 1), write('w1', 2)], ['w0>w1'], {
      channels: { log: { reducer: 'append' } },
      triggers: [trigger({ debounceMs: 500 })],
    });
    const trial = new Trial(definition).start();
    const firings = triggersFiredBy(trial.plan, trial.give({ type: 'advance', now: 7, maxEvents: 99 }));
    assert.deepEqual(
      firings.map(({ eventId, dueAt }) => [eventId, dueAt]),
      [['run-1.5', 507]],
    );
  });

  test('never fire on their own lineage', () => {
    const [[firing] = []] = fired({});
    assert.ok(firing);
    const started = { triggerData: firing.data, causationId: firing.eventId };
    assert.ok(isFromTrigger(facts(started)));
    assert.deepEqual(ids(fired({}, started)), [[], []]);
    const parent = {
      runId: 'p',
      nodeId: 'n',
      visit: 1,
      workflowId: 'w',
      cause: 'core.subWorkflow',
      depth: 1,
      rootRunId: 'parent',
      harvest: [],
      unset: [],
    };
    assert.deepEqual(ids(fired({}, { parent })), [[], []]);
    assert.deepEqual(ids(fired({}, {}, true)), [['run-1.2'], []]);
  });

  test('a sensitive value is not handed on', () => {
    const definition = workflow([write('w', 'hush')], [], {
      channels: { log: { reducer: 'append', sensitive: true } },
      triggers: [trigger({})],
    });
    const trial = new Trial(definition).start();
    const [firing] = triggersFiredBy(trial.plan, trial.give({ type: 'advance', now: 1, maxEvents: 9 }));
    assert.equal(firing?.data.value, '[REDACTED]');
  });

  test('other triggers are none of them', () => {
    const manual = { id: 'm', type: 'manual' as const };
    assert.deepEqual(channelTriggers(new Trial(workflow([node('a')], [], { triggers: [manual] })).plan), []);
  });
});
