import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RunEvent, WorkflowDefinition } from '@gantry/protocol';
import fc from 'fast-check';
import { propertyRuns } from '../../../protocol/src/testing/property-runs.ts';
import { publicValidator } from '../../../protocol/src/testing/public-schemas.ts';
import { executions, type ForkedRun, fold, isReady, newRun, wakeAt } from '../index.ts';
import { EVENTS_MAX, replay, told } from '../testing/forks.ts';
import { edge, effect, fixed, node, Trial, workflow } from '../testing/workflow.ts';

function assertSame(trial: Trial, replayed: ForkedRun, what: string): void {
  assert.deepEqual(told(replayed.events, trial), told(trial.events, trial), what);
  const { facts: _theirs, ...state } = trial.run;
  const { facts: _ours, ...replayedState } = replayed.run;
  assert.deepEqual(replayedState, state, what);
}

interface Shape {
  readonly kinds: readonly number[];
  readonly edges: readonly { from: number; to: number; conditional: boolean }[];
  readonly die: readonly number[];
}

const shapes = fc.integer({ min: 1, max: 7 }).chain((size) => {
  const place = fc.nat(size - 1);
  const edges = fc.array(fc.record({ from: place, to: place, conditional: fc.boolean() }), { maxLength: 12 });
  const kinds = fc.array(fc.nat(5), { minLength: size, maxLength: size });
  return fc.record({ kinds, edges, die: fc.array(fc.nat(1_000), { minLength: 1, maxLength: 30 }) });
});

function nodeOf(kind: number, id: string) {
  switch (kind) {
    case 0:
      return node(id);
    case 1:
      return node(id, 'core.delay', { config: { delayMs: 50 } });
    case 2:
      return node(id, 'core.setVariable', { config: { name: 'n', expression: 'variables.n + 1.0' } });
    default:
      return effect(id, { settings: { maxRetries: 2, backoffMs: 10, timeoutMs: 40 } });
  }
}

function definitionOf({ kinds, edges }: Shape): WorkflowDefinition {
  const ids = kinds.map((_, index) => `n${index}`);
  return workflow(
    [...ids.map((id, index) => nodeOf(kinds[index]!, id)), node('end')],
    [
      ...edges.map(({ from, to, conditional }, index) =>
        edge(`n${from}>n${to}`, {
          id: `e${index}`,
          triggerRule: 'all_complete',
          ...(conditional && { condition: { type: 'equals', left: 'output.even', right: true } }),
        }),
      ),
      ...ids.map((id) => edge(`${id}>end`, { id: `h${id}`, triggerRule: 'all_complete' })),
    ],
    { variables: [{ name: 'n', type: 'number', defaultValue: 0, sensitive: true }] },
  );
}

/**
 * A run in which everything happens in an order, at times and with outcomes that the dice decide. `stops` gets
 * the lengths that its log had between steps.
 */
function live(shape: Shape, stops: number[] = []): Trial {
  const trial = new Trial(definitionOf(shape)).start();
  let turn = 0;
  const roll = (sides: number): number => shape.die[turn++ % shape.die.length]! % sides;
  while (trial.run.status === 'running' && turn < 400) {
    stops.push(trial.events.length);
    trial.now += roll(7);
    const open = executions(trial.plan, trial.run);
    const choice = roll(20);
    if (choice === 0) trial.give({ type: 'cancel', now: trial.now, by: 'someone' });
    else if (choice < 12 && isReady(trial.plan, trial.run)) trial.advance(1 + roll(6));
    else if (open.length > 0) {
      const { nodeId, attempt, visit } = open[roll(open.length)]!;
      const ok = { ok: true, outputs: { even: roll(2) === 0 }, variables: { n: roll(9) } } as const;
      const failure = { ok: false, error: { code: 'x', message: 'x' }, retryable: roll(2) === 0 } as const;
      const outcome = roll(3) > 0 ? ok : failure;
      trial.give({ type: 'settle', now: trial.now, nodeId, attempt, visit, outcome });
    } else if (isReady(trial.plan, trial.run)) trial.advance(2);
    else trial.wake(Math.max(trial.now, wakeAt(trial.plan, trial.run)!));
  }
  return trial;
}

describe('a replay of any run', () => {
  test('is the run itself, from whichever event on', () => {
    fc.assert(
      fc.property(shapes, fc.nat(), (shape, at) => {
        const trial = live(shape);
        for (const fromSeq of [0, at % (trial.events.length + 1), trial.events.length])
          assertSame(trial, replay(trial, fromSeq), `from ${fromSeq}`);
      }),
      { numRuns: propertyRuns(300) },
    );
  });

  test('is what its log folds to', () => {
    fc.assert(
      fc.property(shapes, fc.nat(), (shape, at) => {
        const trial = live(shape);
        const { events, run } = replay(trial, at % (trial.events.length + 1));
        assert.deepEqual(fold(newRun(run.facts), JSON.parse(JSON.stringify(events))), run);
      }),
      { numRuns: 100 },
    );
  });

  test('asks nothing of the outside, also of a source that is not at its end', () => {
    fc.assert(
      fc.property(shapes, fc.nat(), (shape, at) => {
        const stops: number[] = [];
        const trial = live(shape, stops);
        const part = trial.events.slice(0, stops[at % stops.length]);
        const { events, run } = replay(trial, 0, { events: part });
        assert.deepEqual(told(events.slice(0, part.length), trial), told(part, trial));
        const there = fold(newRun(trial.run.facts), part);
        for (const { nodeId, visit } of executions(trial.plan, run))
          assert.ok(visit >= (there.visits.get(nodeId) ?? 0), nodeId);
      }),
      { numRuns: 100 },
    );
  });
});

describe('a source that was tampered with', () => {
  const tampering = fc.record({
    at: fc.nat(),
    how: fc.constantFrom('drop', 'double', 'payload', 'type', 'node', 'junk'),
    junk: fc.jsonValue(),
  });

  function tamper(
    events: readonly RunEvent[],
    { at, how, junk }: { at: number; how: string; junk: unknown },
  ) {
    const changed: unknown[] = [...events];
    const place = at % events.length;
    const event = events[place]!;
    const payload = { ...event.payload, outputs: { even: 'no' }, error: { code: 'y', message: 'y' } };
    if (how === 'drop') changed.splice(place, 1);
    else if (how === 'double') changed.splice(place, 0, event);
    else if (how === 'payload') changed[place] = { ...event, payload };
    else if (how === 'type') changed[place] = { ...event, type: 'node.completed' };
    else if (how === 'node') changed[place] = { ...event, nodeId: 'n0' };
    else changed[place] = junk;
    return changed as RunEvent[];
  }

  test('never stops a replay, and is told at most once', () => {
    fc.assert(
      fc.property(shapes, tampering, fc.nat(), (shape, change, at) => {
        const trial = live(shape);
        const events = tamper(trial.events, change);
        const { events: replayed, run } = replay(trial, at % (events.length + 1), { events });
        const diverged = replayed.filter((event) => event?.type === 'replay.diverged');
        assert.ok(diverged.length <= 1);
        assert.equal(run.nextSeq, replayed.length);
        assert.ok(replayed.length < EVENTS_MAX);
      }),
      { numRuns: propertyRuns(500) },
    );
  });

  test('an output that comes out differently is named with its place and kind', () => {
    const definition = workflow(
      [node('a', 'core.identity', { inputs: { x: fixed(1) } }), node('b')],
      ['a>b'],
    );
    const trial = Trial.begin(definition);
    const at = trial.events.findIndex(({ type }) => type === 'node.completed');
    const events = trial.events.map((event, index) =>
      index === at ? { ...event, payload: { ...event.payload, outputs: { x: 2 } } } : event,
    );
    const { events: replayed, run, divergedAt } = replay(trial, 0, { events });
    const [diverged] = replayed.filter(({ type }) => type === 'replay.diverged');
    assert.deepEqual(diverged?.payload, {
      sourceRunId: 'run-1',
      atSequence: at,
      originalEventId: `run-1.${at}`,
      divergenceKind: 'output',
      divergencePoint: 'node.completed',
    });
    assert.equal(divergedAt, at);
    assert.equal(run.status, 'completed');
    assert.equal(replayed.at(-1)?.type, 'run.completed');
    const problems = publicValidator('run-event-payloads.schema.json#/$defs/replayDiverged')?.(
      diverged?.payload,
    );
    assert.deepEqual(problems ?? [], []);
  });
});

describe('what the source heard', () => {
  const rounds = workflow(
    [
      node('loop', 'core.loop', { config: { count: 3 } }),
      effect('act'),
      node('keep', 'core.setVariable', {
        inputs: { value: { type: 'connection', nodeId: 'act', outputKey: 'got' } },
        config: { name: 'last' },
      }),
    ],
    [
      edge('loop>act', { condition: { type: 'equals', left: 'output.done', right: false } }),
      'act>keep',
      'keep>loop',
    ],
    { variables: [{ name: 'last', type: 'string' }] },
  );

  test('reaches the same round of a loop, even if the log is out of order', () => {
    const trial = Trial.begin(rounds);
    for (const got of ['one', 'two', 'three']) trial.succeed('act', { got });
    assert.equal(trial.run.status, 'completed');
    const kept = (events: readonly RunEvent[]) =>
      events.filter(({ type }) => type === 'variable.changed').map(({ payload }) => payload.next);
    assert.deepEqual(kept(replay(trial).events), ['one', 'two', 'three']);
    const strange = { type: 'log.appended', at: 1_000, nodeId: 'loop', payload: {} };
    const shuffled = [trial.events[0]!, strange, ...trial.events.slice(1)];
    const { events, divergedAt } = replay(trial, 0, { events: shuffled });
    assert.equal(divergedAt, 1);
    assert.deepEqual(kept(events), ['one', 'two', 'three']);
  });

  test('is missed only where the source went past it', () => {
    const trial = Trial.begin(workflow([effect('a'), node('b')], ['a>b'])).succeed('a', { x: 1 });
    const lost = trial.events.filter(({ type, nodeId }) => !(type === 'node.completed' && nodeId === 'a'));
    const { events, run } = replay(trial, 0, { events: lost });
    assert.equal(run.error?.code, 'replay_source_missing');
    assert.equal(events.filter(({ type }) => type === 'replay.diverged').length, 1);
    const waiting = trial.events.slice(0, 2);
    const there = replay(trial, 0, { events: waiting });
    assert.equal(there.divergedAt, undefined);
    assert.deepEqual(told(there.events, trial), told(waiting, trial));
  });

  test('leaves out pauses, and the time they took', () => {
    const trial = Trial.begin(workflow([effect('a'), node('b')], ['a>b']), {
      configurable: { runTimeoutMs: 1_000 },
    });
    trial.give({ type: 'pause', now: 1_100, drainPolicy: 'immediate' });
    trial.give({ type: 'resume', now: 90_000 });
    trial.now = 90_001;
    trial.succeed('a');
    const { events, run, divergedAt } = replay(trial);
    assert.deepEqual([run.status, divergedAt], ['completed', undefined]);
    const others = trial.events.filter(({ type }) => !/paused|resumed/.test(type));
    assert.deepEqual(told(events, trial), told(others, trial));
    const paused = trial.events.findIndex(({ type }) => type === 'run.paused') + 1;
    assert.deepEqual(told(replay(trial, paused).events, trial), told(trial.events, trial));
  });

  test('includes that its time was over', () => {
    const trial = Trial.begin(workflow([effect('a'), effect('b')]), { configurable: { runTimeoutMs: 50 } });
    trial.wake(5_000);
    assert.equal(trial.run.error?.code, 'run_timeout');
    for (let fromSeq = 0; fromSeq <= trial.events.length; fromSeq++)
      assertSame(trial, replay(trial, fromSeq), `from ${fromSeq}`);
  });
});
