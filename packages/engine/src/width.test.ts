import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Command, childRequests, type Run } from './index.ts';
import { edge, facts, node, Trial, workflow } from './testing/workflow.ts';

const TABLES = ['nodes', 'visits', 'children', 'interrupts', 'asked'] as const;

/** Entries that a step did not share with the state before it. */
function copiedEntries(before: Run, after: Run): number {
  let copied = 0;
  for (const table of TABLES) {
    const known = new Set<unknown>(before[table].chunks);
    for (const chunk of after[table].chunks) if (!known.has(chunk)) copied += chunk.length;
  }
  return copied;
}

/** The most entries that one step copies, over the life of a run with so many nodes of a type beside each other. */
function mostCopied(
  width: number,
  typeId: string,
  config: object,
  commands: (id: string) => Command[],
): number {
  const ids = Array.from({ length: width }, (_, index) => `n${index}`);
  const nodes = ids.map((id) => node(id, typeId, { config: { ...config } }));
  const limits = { ...facts().limits, maxNodeExecutions: 10_000 };
  const trial = new Trial(
    workflow(
      [...nodes, node('join')],
      ids.map((id) => edge(`${id}>join`)),
    ),
    { limits },
  );
  trial.start().advance();
  let most = 0;
  for (const command of ids.flatMap(commands)) {
    const before = trial.run;
    assert.ok(trial.give(command).events.length > 0);
    most = Math.max(most, copiedEntries(before, trial.run));
    assert.ok(childRequests(trial.plan, trial.run).length <= 32);
  }
  assert.equal(trial.advance().run.status, 'completed');
  return most;
}

test('what a step copies does not grow with the width of the workflow', () => {
  const child = (nodeId: string): Command[] => {
    const about = { now: 1_000, nodeId, visit: 1 };
    const report = {
      childRunId: `run-${nodeId}`,
      status: 'completed',
      variables: {},
      sensitive: [],
    } as const;
    return [
      { type: 'childrenStarted', ...about, starts: [{ index: 0, childRunId: report.childRunId }] },
      { type: 'childEnded', ...about, report },
    ];
  };
  const by = { principal: 'ann', roles: [], scopes: ['approvals:respond'], authenticated: true };
  const approve = (nodeId: string): Command[] => [
    { type: 'resolve', now: 1_000, nodeId, resumeValue: { action: 'accept' }, by },
  ];
  for (const [typeId, config, commands] of [
    ['core.subWorkflow', { workflowId: 'worker' }, child],
    ['core.approvalGate', {}, approve],
  ] as const) {
    const narrow = mostCopied(250, typeId, config, commands);
    assert.ok(mostCopied(1_990, typeId, config, commands) <= narrow, typeId);
  }
});
