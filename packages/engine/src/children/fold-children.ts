/**
 * Folds events about children. Public payloads are closed, so `sealed` identifies the child and visit of an
 * event; an event without it changes nothing.
 */
import type { JsonObject, RunEvent } from '@gantry/protocol';
import type { Draft } from '../apply.ts';
import { isObject, own } from '../json.ts';
import { foldDecision } from '../orchestrator.ts';
import { errorAt, numberAt, objectAt, textAt, textsAt } from '../payload.ts';
import type { Run } from '../run.ts';
import {
  type CalledRun,
  type Child,
  type ChildStatus,
  type EndedChild,
  isEnded,
  type NodeChildren,
} from './child.ts';

export const childrenOf = (run: Run, nodeId: string): NodeChildren | undefined => run.children.get(nodeId);

export function foldChildren(run: Draft, event: RunEvent, payload: JsonObject): void {
  const { nodeId, sealed } = event;
  if (typeof nodeId !== 'string') return;
  if (event.type === 'runOrchestrator.decided') foldDecision(run, nodeId, payload);
  if (!isObject(sealed)) return;
  if (Array.isArray(sealed.workers)) open(run, nodeId, sealed);
  if (event.type === 'node.dispatched') started(run, nodeId, sealed, payload);
  else if (event.type === 'core.workflowChain.event') chained(run, nodeId, sealed, payload);
  else if (event.type === 'core.dispatch.join') release(run, nodeId);
}

/** A fork does not share the children of its source: those that had not ended are started again. */
export function loosenChildren(run: Draft): void {
  for (const [nodeId] of run.children) change(run, nodeId, wantAgain);
}

const wantAgain = (child: Child): Child =>
  child.status === 'running' ? { ...baseOf(child), status: 'wanted' } : child;

function open(run: Draft, nodeId: string, sealed: JsonObject): void {
  const causeSeq = sealed.causeSeq;
  const entry: NodeChildren = {
    visit: numberAt(sealed, 'visit', 1),
    children: textsAt(sealed, 'workers').map((workflowId, index) => ({
      workflowId,
      index,
      status: 'queued',
    })),
    ended: [],
    ...(typeof causeSeq === 'number' && { causeSeq }),
    ...(isObject(sealed.callInputs) && { callInputs: sealed.callInputs }),
  };
  run.children = run.children.with(nodeId, entry);
}

function started(run: Draft, nodeId: string, sealed: JsonObject, payload: JsonObject): void {
  const childRunId = textAt(payload, 'childRunId');
  changeOne(run, nodeId, sealed, (child) => ({ ...baseOf(child), status: 'running', childRunId }));
}

function chained(run: Draft, nodeId: string, sealed: JsonObject, payload: JsonObject): void {
  const chainSeq = run.nextSeq - 1;
  const phase = textAt(payload, 'phase');
  if (phase === 'dispatch.began') countDispatch(run, nodeId);
  changeOne(run, nodeId, sealed, (child) => ({ ...phased(child, phase, sealed, payload), chainSeq }));
  const childRunId = textAt(payload, 'childRunId');
  if (phase.startsWith('child.') || phase === 'dispatch.failed') foldCall(run, nodeId, sealed);
  if (phase.startsWith('child.') && childRunId !== '') noteEnd(run, nodeId, childRunId);
}

/** The status of an ended child, by the phase that reports it. */
export const ENDS: Readonly<Record<string, ChildStatus>> = {
  'dispatch.failed': 'failed',
  'child.completed': 'completed',
  'child.failed': 'failed',
  'child.cancelled': 'cancelled',
};

function phased(child: Child, phase: string, sealed: JsonObject, payload: JsonObject): Child {
  const end = ENDS[phase];
  if (end) return ended(child, end, sealed, payload);
  if (phase === 'dispatch.began') return { ...baseOf(child), status: 'wanted' };
  return phase === 'output.harvested' ? merged(child) : child;
}

function ended(child: Child, status: ChildStatus, sealed: JsonObject, payload: JsonObject): EndedChild {
  const childRunId = textAt(payload, 'childRunId');
  const variables = objectAt(sealed, 'variables');
  const sensitive = textsAt(sealed, 'sensitive');
  return {
    ...baseOf(child),
    status,
    ...(childRunId !== '' && { childRunId }),
    ...(isObject(payload.error) && { error: errorAt(payload, 'error') }),
    ...(variables && { variables }),
    ...(sensitive.length > 0 && { sensitive }),
  };
}

function merged(child: Child): Child {
  if (!isEnded(child)) return child;
  const { variables: _variables, sensitive: _sensitive, ...rest } = child;
  return rest;
}

/** The join is decided: children that have not ended are no longer needed. */
function release(run: Draft, nodeId: string): void {
  change(run, nodeId, (child) => {
    if (isEnded(child)) return child;
    const childRunId = child.status === 'running' ? { childRunId: child.childRunId } : {};
    return { ...baseOf(child), ...childRunId, status: 'cancelled', released: true };
  });
}

function noteEnd(run: Draft, nodeId: string, childRunId: string): void {
  const entry = childrenOf(run, nodeId);
  if (!entry || entry.ended.includes(childRunId)) return;
  run.children = run.children.with(nodeId, { ...entry, ended: [...entry.ended, childRunId] });
}

/** Only children that a decision caused count: a sub-workflow is not a dispatch. */
function countDispatch(run: Draft, nodeId: string): void {
  if (!run.orchestrator || childrenOf(run, nodeId)?.causeSeq === undefined) return;
  run.orchestrator = { ...run.orchestrator, dispatched: run.orchestrator.dispatched + 1 };
}

function changeOne(run: Draft, nodeId: string, sealed: JsonObject, next: (child: Child) => Child): void {
  const entry = childrenOf(run, nodeId);
  const child = entry?.children[numberAt(sealed, 'index', -1)];
  if (!entry || !child || entry.visit !== sealed.visit) return;
  run.children = run.children.with(nodeId, {
    ...entry,
    children: entry.children.with(child.index, next(child)),
  });
}

function change(run: Draft, nodeId: string, next: (child: Child) => Child): void {
  const entry = childrenOf(run, nodeId);
  if (!entry) return;
  run.children = run.children.with(nodeId, { ...entry, children: entry.children.map(next) });
}

const baseOf = ({
  workflowId,
  index,
  chainSeq,
}: Child): Pick<Child, 'workflowId' | 'index' | 'chainSeq'> => ({
  workflowId,
  index,
  ...(chainSeq !== undefined && { chainSeq }),
});

/** Another attempt repeats its calls: it does not wait for the open child of the previous attempt. */
export function forgetCall(run: Draft, nodeId: string): void {
  if (run.children.get(nodeId)?.callInputs) run.children = run.children.with(nodeId, undefined);
}

/** The end of a child that pack code called is kept with the node, whose code runs again and receives it. */
function foldCall(run: Draft, nodeId: string, sealed: JsonObject): void {
  const entry = run.children.get(nodeId);
  const state = run.nodes.get(nodeId);
  if (!entry?.callInputs || entry.visit !== sealed.visit || state?.status !== 'running') return;
  const [child] = entry.children;
  if (!child || !isEnded(child)) return;
  const { workflowId, status, childRunId, error } = child;
  const outputs = own(sealed, 'outputs');
  const called: CalledRun = {
    workflowId,
    attempt: state.attempt,
    status,
    ...(childRunId !== undefined && { runId: childRunId }),
    ...(isObject(outputs) && { outputs }),
    ...(error && { error }),
  };
  run.nodes = run.nodes.with(nodeId, { ...state, calls: [...(state.calls ?? []), called] });
}
