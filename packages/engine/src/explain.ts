import { given, isTerminal, type RunError, type RunStatus } from '@gantry/protocol';
import { isEnded } from './children/child.ts';
import { awaited } from './children/requests.ts';
import { interruptWait, resolveActions } from './interrupt/waits.ts';
import { deadlineOf } from './limits.ts';
import type { Plan, PlanNode } from './plan.ts';
import { isReady, statusOf } from './queries.ts';
import { isTaken } from './readiness.ts';
import type { NodeState, Run } from './run.ts';
import { inTime } from './time-text.ts';

/** A description of a run for people: what it waits for or why it ended, and the possible actions. */
export interface Explanation {
  readonly status: RunStatus;
  readonly summary: string;
  /** When this state began, in milliseconds since the epoch. */
  readonly since?: number;
  readonly waitingFor: readonly Wait[];
  readonly cause?: { readonly sequence?: number; readonly nodeId?: string; readonly error: RunError };
  /** For a completed run: where it stopped although there are outgoing edges. */
  readonly notes?: readonly string[];
  readonly actions: readonly Action[];
}

export interface Wait {
  readonly kind: 'interrupt' | 'child' | 'timer' | 'retry' | 'invocation' | 'resume' | 'capacity';
  readonly nodeId?: string;
  readonly since: number;
  readonly wakesAt?: number;
  readonly text: string;
}

export interface Action {
  readonly action:
    | 'resolve'
    | 'cancel'
    | 'pause'
    | 'resume'
    | 'reconnect'
    | 'repair'
    | 'run-again'
    | 'read-events';
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly text: string;
}

export function explain(plan: Plan, run: Run, now: number): Explanation {
  const waitingFor = waitsOf(plan, run, now);
  const notes = run.status === 'completed' ? deadEnds(plan, run) : [];
  return given({
    status: statusOf(plan, run),
    summary: summaryOf(plan, run, waitingFor, now),
    since: sinceOf(run, waitingFor),
    waitingFor,
    cause: run.error && causeOf(run, run.error),
    notes: notes.length > 0 ? notes : undefined,
    actions: actionsOf(plan, run),
  });
}

const NOTES_MAX = 10;

/** A branch that ends here on purpose looks the same, so this is reported and is not an error. */
const deadEnds = (plan: Plan, run: Run): string[] =>
  plan.order
    .filter((node) => {
      const state = run.nodes.get(node.id);
      const edges = [...node.outgoing, ...node.loopbacksOut];
      return state?.status === 'completed' && edges.length > 0 && !edges.some((edge) => isTaken(edge, state));
    })
    .slice(0, NOTES_MAX)
    .map(({ id, outgoing, loopbacksOut }) => {
      const targets = [...outgoing, ...loopbacksOut].map(({ target }) => target.id);
      return `No edge out of ${id} was taken: no condition held, so ${[...new Set(targets)].slice(0, NOTES_MAX).join(', ')} did not run after it.`;
    });

const causeOf = (run: Run, error: RunError): NonNullable<Explanation['cause']> =>
  given({ sequence: run.causeSeq ?? run.nextSeq - 1, nodeId: run.failedNodeId, error });

function sinceOf(run: Run, waits: readonly Wait[]): number | undefined {
  if (isTerminal(run.status)) return run.endedAt;
  if (waits.length > 0) return Math.min(...waits.map((wait) => wait.since));
  return run.startedAt ?? run.facts.createdAt;
}

function waitsOf(plan: Plan, run: Run, now: number): Wait[] {
  if (run.status === 'pending')
    return [{ kind: 'capacity', since: run.facts.createdAt, text: 'The host has not started the run yet.' }];
  if (run.status === 'paused')
    return [
      { kind: 'resume', since: run.pausedAt ?? now, text: 'The run is paused until someone resumes it.' },
    ];
  if (run.status !== 'running') return [];
  const waits = plan.order.flatMap((node) => {
    const state = run.nodes.get(node.id);
    if (state?.status === 'running')
      return childWaits(node, run, state.startedAt) ?? nodeWait(node, state, now);
    const interrupt = run.interrupts.get(node.id);
    if (interrupt) return interruptWait(node.id, interrupt, now);
    return state ? nodeWait(node, state, now) : [];
  });
  if (isReady(plan, run))
    waits.push({ kind: 'capacity', since: now, text: 'Nodes are ready and wait for capacity.' });
  return waits;
}

function nodeWait(node: PlanNode, state: NodeState, now: number): Wait[] {
  if (state.status === 'retrying') {
    const { code, message } = state.lastError;
    const text = `${node.id} failed (${code}) and is tried again ${inTime(state.retryAt, now)}. It said: ${message}`;
    return [{ kind: 'retry', nodeId: node.id, since: state.failedAt, wakesAt: state.retryAt, text }];
  }
  if (state.status !== 'running') return [];
  const { startedAt: since, dueAt, timeoutAt } = state;
  if (dueAt !== undefined) {
    const text = `${node.id} is a delay that ends ${inTime(dueAt, now)}.`;
    return [{ kind: 'timer', nodeId: node.id, since, wakesAt: Math.min(dueAt, timeoutAt ?? dueAt), text }];
  }
  const limit = timeoutAt === undefined ? '' : `; it times out ${inTime(timeoutAt, now)}`;
  const text = `${node.id} is running outside the engine, attempt ${state.attempt + 1}${limit}.`;
  return [given({ kind: 'invocation' as const, nodeId: node.id, since, wakesAt: timeoutAt, text })];
}

function summaryOf(plan: Plan, run: Run, waits: readonly Wait[], now: number): string {
  switch (run.status) {
    case 'completed':
      return `The run completed after ${run.nodeExecutions} node execution${run.nodeExecutions === 1 ? '' : 's'}.`;
    case 'cancelled':
      return 'The run was cancelled.';
    case 'failed': {
      const where = run.failedNodeId === undefined ? '' : ` at ${run.failedNodeId}`;
      return `The run failed${where}: ${run.error?.message ?? 'no reason was recorded.'}`;
    }
    case 'running': {
      const deadline = deadlineOf(plan, run);
      const limit = Number.isFinite(deadline) ? ` The run times out ${inTime(deadline, now)}.` : '';
      return `${waits.map((wait) => wait.text).join(' ')}${limit}`;
    }
    default:
      return waits.map((wait) => wait.text).join(' ') || `The run is ${run.status}.`;
  }
}

export const post = (action: Action['action'], path: string, text: string): Action => ({
  action,
  method: 'POST',
  path,
  text,
});

function actionsOf(plan: Plan, run: Run): Action[] {
  const path = `/v1/runs/${run.facts.runId}`;
  const events = { action: 'read-events', method: 'GET', path: `${path}/events` } as const;
  const read = { ...events, text: 'Read the events.' };
  const cancel = post('cancel', `${path}/cancel`, 'Cancel the run.');
  const pause = post('pause', `${path}:pause`, 'Pause the run.');
  const resume = post('resume', `${path}:resume`, 'Resume the run.');
  const anew = `Run ${run.facts.workflowId} again from the start${changesOf(plan)}.`;
  const again = post('run-again', `/v1/host/gantry${path.slice('/v1'.length)}:again`, anew);
  if (isTerminal(run.status)) return [...reconnectActions(run), ...repairActions(run), again, read];
  if (run.status === 'paused') return [resume, cancel, read];
  return run.status === 'running' ? [...resolveActions(run), pause, cancel, read] : [cancel, read];
}

/** The hint about options for other inputs. */
function changesOf({ variables }: Plan): string {
  const names = [...variables.keys()].slice(0, NOTES_MAX).join(', ');
  return names === '' ? '' : `; add --input NAME=VALUE for other inputs: ${names}`;
}

/** A failed node may continue in a new run, under the definition that is current then. */
function repairActions({ status, facts, failedNodeId }: Run): Action[] {
  if (status !== 'failed' || failedNodeId === undefined) return [];
  const text = `Continue in a new run from ${failedNodeId}, with the current version of ${facts.workflowId}: register a corrected version or remove the cause first.`;
  return [post('repair', `/v1/host/gantry/runs/${facts.runId}:repair`, text)];
}

/** A connection that must be authorized again: the error says how. */
function reconnectActions({ error }: Run): Action[] {
  if (error?.code !== 'connector_auth_expired') return [];
  const text = `${error.message} Then start the run again.`;
  return [post('reconnect', '/v1/host/gantry/connections', text)];
}

/** The children that a node waits for; undefined when it waits for none. */
function childWaits(node: PlanNode, run: Run, since: number): Wait[] | undefined {
  const children = awaited(run, node.id)?.children ?? [];
  const open = children.filter((child) => !isEnded(child));
  if (open.length === 0) return;
  const nodeId = node.id;
  const ended = children.length - open.length;
  const share = children.length === 1 ? '' : ` (${ended} of ${children.length} have ended)`;
  const running = open.flatMap((child) => (child.status === 'running' ? [child] : []));
  const waits = running.map(({ workflowId, childRunId }): Wait => {
    const path = `/v1/runs/${childRunId}`;
    const text = `${nodeId} waits for its child run ${childRunId} of ${workflowId}${share}; see ${path}.`;
    return { kind: 'child', nodeId, since, text };
  });
  if (waits.length > 0) return waits;
  return [{ kind: 'child', nodeId, since, text: `${nodeId} is about to start a child run${share}.` }];
}
