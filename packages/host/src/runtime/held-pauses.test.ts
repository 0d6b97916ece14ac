import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compile } from '@gantry/engine';
import { node, workflow } from '../testing/definitions.ts';
import { systemClock } from './clock.ts';
import { HeldPauses } from './held-pauses.ts';
import { startRun } from './opened-run.ts';
import type { Task } from './run-task.ts';

const plan = compile(workflow('waits', [node('wait', 'core.delay', { delayMs: 3_600_000 })]));
const facts = {
  runId: 'run_1',
  workflowId: 'waits',
  workflowHash: 'h',
  owner: { tenant: 't' },
  createdAt: 0,
  inputs: {},
  configurable: {},
  tags: [],
  metadata: {},
  limits: { maxNodeExecutions: 100, maxRunDurationMs: 100_000_000, maxLoopIterations: 10 },
};
const pause = (): Task => ({ command: { type: 'pause', now: 0, drainPolicy: 'drain-current-node' } });

test('a pause waits for nodes under way for five seconds, and the next one anew', () => {
  const { run } = startRun({ clock: systemClock, redacting: (of) => of }, plan, facts);
  let elapsed = 1_000;
  const pauses = new HeldPauses({ ...systemClock, elapsedMs: () => elapsed });
  for (let round = 0; round < 2; round++) {
    const task = pause();
    assert.ok(pauses.holds(task, run));
    assert.equal(pauses.earlier(undefined, 0), 5_000);
    assert.equal(pauses.earlier(7, 0), 7);
    elapsed += 4_999;
    assert.equal(pauses.due(run, 0), undefined);
    elapsed += 1;
    const released = pauses.due(run, elapsed) ?? assert.fail('it is due');
    assert.deepEqual(released, { command: { ...task.command, now: elapsed } }, 'paused at that time');
    assert.ok(!pauses.holds(released, run), 'it has waited');
    assert.ok(!pauses.isHolding);
  }
});
