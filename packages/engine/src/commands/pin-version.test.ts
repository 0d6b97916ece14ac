import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { publicValidator } from '../../../protocol/src/testing/public-schemas.ts';
import { type Decision, fold, newRun } from '../index.ts';
import { effect, facts, Trial, workflow } from '../testing/workflow.ts';

const ask = (trial: Trial, min: number, max: number, changeId = 'rules'): Decision =>
  trial.give({ type: 'pinVersion', now: trial.now, changeId, min, max });

describe('a version', () => {
  test('is the newest at the first question, then stays', () => {
    const trial = Trial.begin(workflow([effect('out')]));
    assert.deepEqual(
      ask(trial, 1, 3).events.map(({ type }) => type),
      ['version.pinned'],
    );
    assert.deepEqual(ask(trial, 2, 5).events, []);
    ask(trial, 0, 0, 'other');
    assert.deepEqual(trial.run.versions, { rules: 3, other: 0 });
    assert.deepEqual(trial.payload('version.pinned'), { changeId: 'rules', version: 3 });
    const check = publicValidator('run-event-payloads.schema.json#/$defs/versionPinned');
    assert.deepEqual(check?.(trial.payload('version.pinned')) ?? [], []);
    assert.deepEqual(fold(newRun(facts()), JSON.parse(JSON.stringify(trial.events))), trial.run);
  });

  test('that the code does not know is refused', () => {
    const trial = Trial.begin(workflow([effect('out')]));
    ask(trial, 1, 3);
    for (const [min, max] of [
      [4, 6],
      [1, 2],
    ] as const) {
      const { refusal } = ask(trial, min, max);
      assert.equal(refusal?.code, 'version_out_of_range');
      assert.deepEqual(refusal?.details, { changeId: 'rules', version: 3, min, max });
    }
  });

  test('questions that make no sense are refused', () => {
    const trial = Trial.begin(workflow([effect('out')]));
    for (const [min, max, changeId] of [
      [2, 1, 'a'],
      [-1, 1, 'a'],
      [0, 0.5, 'a'],
      [0, 1, ''],
      [0, 1, '__proto__'],
    ] as const)
      assert.equal(ask(trial, min, max, changeId).refusal?.code, 'validation_error');
    assert.deepEqual(trial.run.versions, {});
  });

  test('a paused run answers what it knows and pins nothing', () => {
    const trial = Trial.begin(workflow([effect('out')]));
    ask(trial, 1, 3);
    trial.give({ type: 'pause', now: trial.now, drainPolicy: 'immediate' });
    assert.equal(ask(trial, 1, 3).refusal, undefined);
    assert.equal(ask(trial, 1, 3, 'new').refusal?.code, 'conflict');
  });

  test('one run pins a thousand, no more', () => {
    const trial = Trial.begin(workflow([effect('out')]));
    for (let index = 0; index < 1_000; index++) ask(trial, 0, 1, `change-${index}`);
    assert.equal(ask(trial, 0, 1, 'one-more').refusal?.code, 'validation_error');
  });
});
