import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compile } from '@gantry/engine';
import { createTurns } from '@gantry/limiter';
import { type CommitGroup, CommitPipeline, type CommitResult } from '@gantry/store';
import { node, workflow } from '../testing/definitions.ts';
import { systemClock } from './clock.ts';
import { EventHub } from './event-hub.ts';
import { startRun } from './opened-run.ts';
import { RunActor } from './run-actor.ts';

const EPOCH = 1;

test('a run that left memory during a commit starts no more work outside', async () => {
  const act = node('act', 'core.conformance.side-effect', {});
  const plan = compile(workflow('acts', [node('wait', 'core.delay', { delayMs: 5 }), act]));
  const facts = {
    runId: 'run_1',
    workflowId: 'acts',
    workflowHash: 'h',
    owner: { tenant: 't' },
    createdAt: 0,
    inputs: {},
    configurable: {},
    tags: [],
    metadata: {},
    limits: { maxNodeExecutions: 100, maxRunDurationMs: 1_000_000, maxLoopIterations: 10 },
  };
  const { run } = startRun({ clock: systemClock, redacting: (plan) => plan }, plan, facts);
  const written = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  const commit = async (groups: readonly CommitGroup[]): Promise<CommitResult[]> => {
    written.resolve();
    await answer.promise;
    return groups.map(() => ({ won: true }));
  };
  let started = 0;
  const committed = Promise.withResolvers<void>();
  const actor = new RunActor(
    {
      now: () => 10,
      clock: systemClock,
      randomBytes: (count) => new Uint8Array(count),
      epoch: EPOCH,
      pipeline: new CommitPipeline({ commit }),
      turns: createTurns(),
      redacting: (plan) => plan,
      hub: new EventHub(),
      outbox: { writes: () => [], committed() {} },
      executor: () => {
        started++;
        return () => new Promise(() => {});
      },
      prepareChildren: () => assert.fail('it has no children'),
      committed: () => committed.resolve(),
      opened() {},
      parked: () => assert.fail('it has work to do'),
      lost: (_actor, error) => assert.fail(String(error)),
    },
    plan,
    run,
    EPOCH,
    0,
  );
  actor.wake();
  await written.promise;
  assert.ok(actor.isWriting);
  actor.abandon(new Error('the host is stopping'));
  answer.resolve();
  await committed.promise;
  await new Promise(setImmediate);
  assert.equal(actor.run.nodes.get('act')?.status, 'running', 'what was committed is known');
  assert.equal(started, 0);
});
