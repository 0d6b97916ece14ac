import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createNormaliser, differences } from '../scripts/record/normalise.ts';

const NOW = Date.parse('2026-11-17T10:00:00Z');

/** One behaviour, recorded with other ids, times and key order. */
const recorded = (digit: string, later: number) => {
  const [run, child] = [`run_${digit.repeat(26)}`, `run_${digit.repeat(25)}z`];
  const at = new Date(NOW + later).toISOString();
  return {
    events: [
      { eventId: `${run}.0`, timestamp: at, durationMs: later },
      { childRunId: child, parent: { runId: run }, due: NOW + later, expires: '2100-01-01T00:00:00.000Z' },
    ],
    error: { message: `text ${digit}`, code: 'node_timeout' },
    bytes: new Uint8Array(2),
  };
};

test('ids and times of a recording follow from its order alone', () => {
  const [one, two] = [recorded('1', 1), recorded('2', 5_000)].map((each) => createNormaliser(NOW)(each));
  assert.equal(JSON.stringify(one), JSON.stringify(two));
  assert.deepEqual(one, {
    bytes: '<2 bytes>',
    error: { code: 'node_timeout' },
    events: [
      { durationMs: '<ms>', eventId: 'run#1.0', timestamp: '<time>' },
      { childRunId: 'run#2', due: '<time>', expires: '2100-01-01T00:00:00.000Z', parent: { runId: 'run#1' } },
    ],
  });
});

test('another relation between ids is a difference', () => {
  const record = (is: unknown) => `${JSON.stringify({ part: 'run', of: 'a', is })}\n`;
  const [same, other] = [
    ['run_1', 'run_1'],
    ['run_1', 'run_2'],
  ].map((ids) => record(createNormaliser(NOW)(ids.map((id) => `${id}${'0'.repeat(25)}`))));
  assert.deepEqual(differences(same!, same!), []);
  assert.deepEqual(differences(same!, other!), ['  run a', '    - /1 "run#1"', '    + /1 "run#2"']);
  assert.deepEqual(differences(same!, ''), ['- run a']);
});
