import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type JsonObject, type RunSnapshot, type StoredEvent, toStored } from '@gantry/protocol';
import { EventDiffs, stateDiff } from '../index.ts';

const event = (sequence: number, payload: JsonObject | undefined, at: number): StoredEvent | undefined =>
  payload && toStored({ type: 'log.appended', at, payload }, sequence);

function diffOf(a: readonly JsonObject[], b: readonly JsonObject[]): EventDiffs {
  const diffs = new EventDiffs('run-a', 'run-b');
  for (let at = 0; at < Math.max(a.length, b.length); at++)
    diffs.add(at, event(at, a[at], 1), event(at, b[at], 2));
  return diffs;
}

describe('two logs', () => {
  test('are the same when only clocks, keys’ order and the runs’ own ids differ', () => {
    const same = diffOf([{ x: 1, key: 'run-a:n:1' }], [{ key: 'run-b:n:1', x: 1 }]);
    assert.deepEqual([same.divergedAtSeq, same.json()], [null, '[]']);
    assert.equal(diffOf([{ id: 'run-abc' }], [{ id: 'run-bbc' }]).divergedAtSeq, 0);
  });

  test('part where they first differ, and more differences than fit are not listed', () => {
    const few = diffOf([{ x: 1 }, { x: 2 }, { x: 3 }], [{ x: 1 }, { x: 0 }]);
    assert.equal(few.divergedAtSeq, 1);
    assert.deepEqual(
      JSON.parse(few.json()).map(({ seq, op }: JsonObject) => [seq, op]),
      [
        [1, 'changed'],
        [2, 'removed'],
      ],
    );
    const long = Array.from({ length: 1_200 }, (_, x) => ({ x }));
    const many = diffOf(long, []);
    assert.deepEqual([JSON.parse(many.json()).length, many.truncated], [1_000, true]);
    const large = [{ text: 'x'.repeat(9_000_000) }];
    assert.deepEqual([diffOf(large, []).json(), diffOf(large, []).truncated], ['[]', true]);
  });
});

describe('two states', () => {
  const stateOf = (variables: JsonObject): RunSnapshot => ({
    runId: 'r',
    workflowId: 'w',
    status: 'running',
    variables,
  });

  test('differ at places, named as JSON pointers name them', () => {
    const a = stateOf({ 'a/b': 1, 'c~d': [1, { e: 2 }], only: null, same: { x: 1 } });
    const b = stateOf({ 'a/b': 2, 'c~d': [1, { e: 3 }, 4], same: { x: 1 }, kind: [] });
    assert.deepEqual(stateDiff(a, { ...b, status: 'failed' }), {
      truncated: false,
      differences: {
        '/status': { a: 'running', b: 'failed' },
        '/variables/a~1b': { a: 1, b: 2 },
        '/variables/c~0d/1/e': { a: 2, b: 3 },
        '/variables/c~0d/2': { b: 4 },
        '/variables/only': { a: null },
        '/variables/kind': { b: [] },
      },
    });
  });

  test('list no more differences than fit', () => {
    const many = Object.fromEntries(Array.from({ length: 1_500 }, (_, n) => [`v${n}`, n]));
    const { differences, truncated } = stateDiff(stateOf(many), stateOf({}));
    assert.deepEqual([Object.keys(differences).length, truncated], [1_000, true]);
  });
});
