import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RunEvent } from '@gantry/protocol';
import fc from 'fast-check';
import { propertyRuns } from '../../protocol/src/testing/property-runs.ts';
import { apply, fold, newRun, type Run, runOf, wakeAt } from './index.ts';
import { picks, play, shapes } from './testing/random-workflow.ts';
import { facts, plain } from './testing/workflow.ts';

const TERMINAL = ['run.completed', 'run.failed', 'run.cancelled'];

const statesOf = (run: Run): object =>
  Object.fromEntries([...run.nodes].map(([id, state]) => [id, state.status]));

describe('any workflow', () => {
  test('any order of settlements and any stretch length lead to the same end', () => {
    fc.assert(
      fc.property(
        shapes(false),
        picks,
        picks,
        fc.integer({ min: 1, max: 5 }),
        (shape, first, second, maxEvents) => {
          const one = play(shape, first, 1_000);
          const other = play(shape, second, maxEvents);
          assert.equal(one.run.status, 'completed');
          assert.equal(other.run.status, 'completed');
          assert.deepEqual(statesOf(one.run), statesOf(other.run));
        },
      ),
      { numRuns: propertyRuns(300) },
    );
  });

  test('with loops or without, it ends, with one terminal event at the end', () => {
    fc.assert(
      fc.property(shapes(true), picks, fc.integer({ min: 1, max: 5 }), (shape, order, maxEvents) => {
        const trial = play(shape, order, maxEvents);
        assert.match(trial.run.status, /^(completed|failed)$/);
        assert.notEqual(trial.run.error?.code, 'internal_error');
        const terminal = trial.events.filter((event) => TERMINAL.includes(event.type));
        assert.equal(terminal.length, 1);
        assert.equal(trial.events.at(-1), terminal[0]);
        assert.equal(trial.run.nextSeq, trial.events.length);
        assert.equal(wakeAt(trial.plan, trial.run), undefined);
      }),
      { numRuns: propertyRuns(300) },
    );
  });

  test('the log folds to the run that was decided, also through JSON and from any snapshot', () => {
    fc.assert(
      fc.property(shapes(true), picks, fc.nat(), (shape, order, at) => {
        const trial = play(shape, order, 3);
        const events: RunEvent[] = JSON.parse(JSON.stringify(trial.events));
        assert.deepEqual(fold(newRun(facts()), events), trial.run);
        assert.deepEqual(events.reduce(apply, newRun(facts())), trial.run);
        const cut = at % (events.length + 1);
        const snapshot = runOf(plain(fold(newRun(facts()), events.slice(0, cut))));
        assert.deepEqual(plain(fold(snapshot, events.slice(cut))), plain(trial.run));
      }),
      { numRuns: propertyRuns(200) },
    );
  });
});

describe('apply', () => {
  const types = [
    ...TERMINAL,
    'run.started',
    'run.paused',
    'run.resumed',
    'variable.changed',
    'cap.breached',
    'future.event',
    'node.started',
    'node.completed',
    'node.failed',
    'node.retried',
    'node.skipped',
    'node.cancelled',
    'node.new',
  ];
  const keys = [
    'nodeId',
    'name',
    'next',
    'attempt',
    'error',
    'outputs',
    'loopback',
    'resets',
    'edgeId',
    'inputs',
  ];
  const anything = fc.jsonValue();
  const payload = fc.oneof(
    fc.dictionary(
      fc.constantFrom(...keys),
      fc.oneof(anything, fc.constantFrom('a', '__proto__', 'constructor')),
    ),
    anything,
    fc.constant(undefined),
  );
  const event = fc.record({
    type: fc.oneof(fc.constantFrom(...types), anything),
    at: fc.oneof(fc.nat(), anything),
    payload,
    sealed: payload,
  });

  test('never throws and counts every event, whatever it is', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof({ weight: 9, arbitrary: event }, anything), { maxLength: 30 }),
        (events) => {
          const run = fold(newRun(facts()), events as RunEvent[]);
          assert.equal(run.nextSeq, events.length);
        },
      ),
      { numRuns: propertyRuns(500) },
    );
  });

  test('an unknown event changes nothing else', () => {
    const run = newRun(facts());
    const unknown = { type: 'node.dreamt', at: 1, nodeId: 'a', payload: { nodeId: 'a' } };
    assert.deepEqual(apply(run, unknown), { ...run, nextSeq: 1 });
  });
});
