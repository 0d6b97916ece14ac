import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, RunEventDoc } from '@gantry/protocol';
import { skipWithoutPublicData as skip } from '../../../protocol/src/testing/public-schemas.ts';
import { type FixtureHost, fixtureHost } from '../testing/fixture-host.ts';
import { assertOrder, only, payloadsOf, typesOf } from '../testing/run-events.ts';

const childIds = (events: readonly RunEventDoc[]): string[] =>
  payloadsOf(events, 'node.dispatched').map(({ childRunId }) => String(childRunId));

/** Runs a fixture to its end and answers its snapshot, its log, and its children in the order of dispatch. */
async function played(host: FixtureHost, workflowId: string, more: JsonObject = {}) {
  const runId = await host.start(workflowId, more);
  const snapshot = await host.ended(runId);
  const events = await host.events(runId);
  const children: JsonObject[] = [];
  for (const id of childIds(events)) children.push((await host.get(`/v1/runs/${id}`)).json());
  return { runId, snapshot, events, children, variables: Object(snapshot.variables) };
}

test('conformance-subworkflow-*: mappings both ways, unset stays unset', { skip }, async () => {
  const host = await fixtureHost();
  const parent = await played(host, 'conformance-subworkflow-parent');
  assert.equal(parent.snapshot.status, 'completed');
  assert.equal(parent.variables.childOutcome, 'child-completed');
  const [child] = parent.children;
  assert.equal(child?.parentRunId, parent.runId);
  assert.equal(child?.parentNodeId, 'subwf-call');
  const completed = payloadsOf(parent.events, 'node.completed').find(({ nodeId }) => nodeId === 'subwf-call');
  assert.equal(Object(completed?.outputs).childRunId, child?.runId);
  assert.equal(Object(completed?.outputs).childStatus, 'completed');
  const ancestry = await host.get(`/v1/runs/${String(child?.runId)}/ancestry`);
  assert.deepEqual(ancestry.json().parent, {
    runId: parent.runId,
    hostId: ancestry.json().hostId,
    cause: 'core.subWorkflow',
  });

  const mapped = await played(host, 'conformance-subworkflow-input-mapping');
  assert.equal(Object(mapped.children[0]?.variables).receivedPrdId, 'prd-1');
  const unset = await played(host, 'conformance-subworkflow-input-mapping-no-default');
  assert.equal(unset.snapshot.status, 'completed');
  assert.ok(!('receivedPrdId' in Object(unset.children[0]?.variables)));
});

test('conformance-subworkflow-mid-run-mutation: a child keeps what it was given', { skip }, async () => {
  const host = await fixtureHost();
  const runId = await host.start('conformance-subworkflow-mid-run-mutation');
  let childRunId: string | undefined;
  while (childRunId === undefined) [childRunId] = childIds(await host.events(runId));
  await host.reaches(childRunId, 'waiting-approval');
  assert.equal((await host.answer(childRunId, 'child-gate', { action: 'accept' })).statusCode, 200);
  assert.equal(Object((await host.ended(childRunId)).variables).receivedPrdId, 'seeded-id');
  assert.equal((await host.ended(runId)).status, 'completed');
});

test('conformance-dispatch-loop: one worker, then the end', { skip }, async () => {
  const host = await fixtureHost();
  const { snapshot, events, children } = await played(host, 'conformance-dispatch-loop');
  assert.equal(snapshot.status, 'completed');
  const decisions = payloadsOf(events, 'runOrchestrator.decided').map(
    ({ decision }) => Object(decision).kind,
  );
  assert.deepEqual(decisions, ['next-worker', 'terminate']);
  assert.deepEqual(
    children.map(({ workflowId, status }) => [workflowId, status]),
    [['conformance-noop', 'completed']],
  );
  assertOrder(events, [
    'runOrchestrator.decided',
    'node.dispatched',
    'runOrchestrator.decided',
    'run.completed',
  ]);
});

test('conformance-dispatch-*-mapping: what goes to workers and comes back', { skip }, async () => {
  const host = await fixtureHost();
  const inputs = await played(host, 'conformance-dispatch-input-mapping');
  assert.equal(Object(inputs.children[0]?.inputs).childGreeting, 'Alice');
  const unset = await played(host, 'conformance-dispatch-input-mapping-no-default');
  assert.equal(unset.snapshot.status, 'completed');
  assert.ok(!('childGreeting' in Object(unset.children[0]?.inputs)));
  const outputs = await played(host, 'conformance-dispatch-output-mapping');
  assert.equal(outputs.variables.parentResult, 'done');
  const handoff = await played(host, 'conformance-dispatch-cross-worker-handoff');
  assert.equal(Object(handoff.children[1]?.inputs).input, 'hello');
  const override = await played(host, 'conformance-dispatch-per-worker-override');
  assert.equal(override.snapshot.status, 'completed');
  const [first, second] = override.children.map((child) => JSON.stringify(child.inputs));
  assert.notEqual(first, second);
});

test('conformance-orchestrator-*: plans, the end, and the hold on low confidence', { skip }, async () => {
  const host = await fixtureHost();
  const dispatched = await played(host, 'conformance-orchestrator-dispatch');
  assert.equal(dispatched.snapshot.status, 'completed');
  assert.equal(Object(dispatched.snapshot.runOrchestrator).agentId, 'core.conformance.supervisor');
  const terminated = await played(host, 'conformance-orchestrator-terminate');
  assert.equal(terminated.snapshot.status, 'completed');
  assert.equal(terminated.children.length, 0);

  const runId = await host.start('conformance-orchestrator-low-confidence');
  await host.reaches(runId, 'waiting-approval');
  const held = await host.events(runId);
  assert.ok(!typesOf(held).includes('runOrchestrator.decided'));
  assert.equal(only(held, 'node.suspended').payload.reason, 'low-confidence');
});

test('conformance-multi-agent-*: chained phases, and escalation below the floor', { skip }, async () => {
  const host = await fixtureHost();
  const handoff = await played(host, 'conformance-multi-agent-handoff');
  assert.equal(handoff.variables.parentResult, 'handoff-complete');
  const phases = payloadsOf(handoff.events, 'core.workflowChain.event').map(({ phase }) => phase);
  assert.deepEqual(phases, ['dispatch.began', 'dispatch.succeeded', 'child.completed', 'output.harvested']);
  const chain = handoff.events.filter(({ type }) => type === 'core.workflowChain.event');
  for (const [index, event] of chain.entries())
    if (index > 0) assert.equal(event.causationId, chain[index - 1]?.eventId);

  const runId = await host.start('conformance-multi-agent-confidence-escalation');
  await host.reaches(runId, 'waiting-approval');
  const events = await host.events(runId);
  only(events, 'core.workflowChain.confidence-escalated');
  assert.ok(!typesOf(events).includes('core.workflowChain.event'));
});

test('conformance-dispatch-deterministic-fail-child and -cancellable-child end as they say', {
  skip,
}, async () => {
  const host = await fixtureHost();
  const failing = await played(host, 'conformance-dispatch-deterministic-fail-child');
  assert.equal(failing.snapshot.status, 'failed');
  const runId = await host.start('conformance-dispatch-cancellable-child');
  assert.equal((await host.post(`/v1/runs/${runId}/cancel`, {})).statusCode, 200);
  assert.equal((await host.ended(runId)).status, 'cancelled');
});
