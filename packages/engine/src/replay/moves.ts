/** Applies the external input of the source to the replayed run. */
import { eventId, type JsonObject, type RunEvent } from '@gantry/protocol';
import { foldInto } from '../apply.ts';
import type { ChildReport } from '../children/child.ts';
import { ENDS } from '../children/fold-children.ts';
import { cancel } from '../commands/cancel.ts';
import { childEnded } from '../commands/child-ended.ts';
import { childrenStarted } from '../commands/children-started.ts';
import { resume } from '../commands/resume.ts';
import { close } from '../interrupt/close.ts';
import { recordedAnswer } from '../interrupt/fold-interrupt.ts';
import { completeNode, failNode, runNode, terminateNode } from '../node-run.ts';
import { errorAt, numberAt, objectAt, textAt, textsAt } from '../payload.ts';
import type { Plan, PlanNode } from '../plan.ts';
import { isActive, type NodeState, type Run } from '../run.ts';
import { failRun } from '../run-end.ts';
import { emit, type Step } from '../step.ts';
import { type ForkIds, rebase } from './rebase.ts';
import { type Executions, executionKey, type Recorded, type Recording } from './recording.ts';

/** Positions of the source's events in the log of the fork; undefined for an omitted event. */
export type Places = readonly (number | undefined)[];

/** The earliest record that a node of the run, or the run as a whole, waits for. */
export function nextRecorded(
  plan: Plan,
  run: Run,
  recording: Recording,
  executions: Executions,
  unboundFrom: number,
): Recorded | undefined {
  let first = recording.unbound[unboundFrom];
  if (run.status !== 'running') return first;
  for (const node of plan.order) {
    const state = run.nodes.get(node.id);
    const recorded = state && recordFor(node.id, state, run, recording, executions);
    if (recorded && (!first || recorded.sequence < first.sequence)) first = recorded;
  }
  return first;
}

function recordFor(
  nodeId: string,
  state: NodeState,
  run: Run,
  recording: Recording,
  executions: Executions,
): Recorded | undefined {
  if (!('attempt' in state) || !isActive(state)) return;
  const records = recording.execution(executionKey(nodeId, run.visits.get(nodeId) ?? 1, state.attempt));
  return records[state.status === 'retrying' ? 0 : executions.countOf(nodeId)];
}

/** Decides the consequences of a record again; a record without consequences is copied. */
export function relive(
  step: Step,
  { event }: Recorded,
  end: RunEvent | undefined,
  ids: ForkIds,
  places: Places,
): void {
  const node = event.nodeId === undefined ? undefined : step.plan.nodes.get(event.nodeId);
  if (node) reliveNode(step, node, event);
  else reliveRun(step, event, end);
  if (step.events.length > 0) return;
  const copy = copyOf(event, ids, places, step.now);
  step.events.push(copy);
  foldInto(step.run, copy);
}

function reliveNode(step: Step, node: PlanNode, event: RunEvent): void {
  const { type, payload, contentTrust } = event;
  if (contentTrust) step.cause = { contentTrust };
  switch (type) {
    case 'node.started':
      if (step.run.nodes.get(node.id)?.status === 'retrying') runNode(step, node);
      break;
    case 'node.completed':
      completeNode(step, node, objectAt(event.sealed, 'outputs') ?? objectAt(payload, 'outputs') ?? {});
      break;
    case 'node.retried':
      failNode(step, node, errorAt(payload, 'lastError'), true);
      break;
    case 'node.failed':
      if (event.sealed?.terminates === true) terminateNode(step, node, errorAt(payload, 'error'));
      else failNode(step, node, errorAt(payload, 'error'), false);
      break;
    case 'interrupt.resolved': {
      const interrupt = step.run.interrupts.get(node.id);
      if (interrupt) close(step, node, recordedAnswer(interrupt, event));
      break;
    }
    case 'node.dispatched':
    case 'core.workflowChain.event':
      reliveChild(step, node, event);
  }
}

/** Children do not run again: their start and their report are recorded. */
function reliveChild(step: Step, { id: nodeId }: PlanNode, { type, payload, sealed = {} }: RunEvent): void {
  const visit = numberAt(sealed, 'visit', 1);
  const index = numberAt(sealed, 'index', 0);
  const phase = textAt(payload, 'phase');
  const childRunId = textAt(payload, 'childRunId');
  const about = { now: step.now, nodeId, visit };
  if (type === 'node.dispatched')
    childrenStarted(step, { type: 'childrenStarted', ...about, starts: [{ index, childRunId }] });
  else if (phase === 'dispatch.failed') {
    const starts = [{ index, error: errorAt(payload, 'error') }];
    childrenStarted(step, { type: 'childrenStarted', ...about, starts });
  } else if (phase.startsWith('child.')) {
    const report = { childRunId, status: ENDS[phase] ?? 'failed', ...reported(sealed), ...errorOf(payload) };
    childEnded(step, { type: 'childEnded', ...about, report });
  }
}

function reported(sealed: JsonObject): Pick<ChildReport, 'variables' | 'sensitive' | 'outputs'> {
  const outputs = objectAt(sealed, 'outputs');
  const variables = objectAt(sealed, 'variables') ?? {};
  return { variables, sensitive: textsAt(sealed, 'sensitive'), ...(outputs && { outputs }) };
}

const errorOf = (payload: JsonObject): Pick<ChildReport, 'error'> =>
  objectAt(payload, 'error') ? { error: errorAt(payload, 'error') } : {};

function reliveRun(step: Step, { type, payload }: RunEvent, end: RunEvent | undefined): void {
  switch (type) {
    case 'run.cancelled':
      cancel(step, { type: 'cancel', now: step.now, ...cancellation(payload) });
      break;
    case 'run.resumed':
      resume(step, { type: 'resume', now: step.now, ...reasonOf(payload) });
      break;
    case 'cap.breached':
      emit(step, type, payload);
      failRun(step, errorAt(end?.payload ?? {}, 'error'));
  }
}

const reasonOf = (payload: JsonObject): { reason?: string } =>
  typeof payload.reason === 'string' ? { reason: payload.reason } : {};

function cancellation(payload: JsonObject): { reason?: string; by?: string; parentRunId?: string } {
  const by = textAt(payload, 'cancelledBy');
  const parentRunId = textAt(payload, 'parentRunId');
  return { ...reasonOf(payload), ...(by && { by }), ...(parentRunId && { parentRunId }) };
}

/** A copy of a recorded event for the fork's log, whose cause is the corresponding event there. */
export function copyOf(event: RunEvent, ids: ForkIds, places: Places, at: number): RunEvent {
  const { causationId, ...copy } = { ...rebase(event, ids), at };
  const own = `${ids.runId}.`;
  if (causationId === undefined) return copy;
  if (!causationId.startsWith(own)) return { ...copy, causationId };
  const place = places[Number(causationId.slice(own.length))];
  return place === undefined ? copy : { ...copy, causationId: eventId(ids.runId, place) };
}
