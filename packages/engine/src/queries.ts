/** Queries of the runtime about a run between commands. All answers follow from the state alone. */
import type { InterruptKind, JsonObject, RunStatus, WorkflowDefinition } from '@gantry/protocol';
import { answeredCalls } from './children/call.ts';
import type { CalledRun } from './children/child.ts';
import { childRequests, isAwaitingChild } from './children/requests.ts';
import type { Interrupt } from './interrupt/interrupt.ts';
import { deadlineOf } from './limits.ts';
import type { PackNodeType } from './nodes/pack-node.ts';
import { nodeConfig, type Plan } from './plan.ts';
import { loopToFollow, readinessOf } from './readiness.ts';
import { isActive, type NodeState, type Run } from './run.ts';

/** When `wake` would next have an effect; undefined when nothing is due. */
export function wakeAt(plan: Plan, run: Run): number | undefined {
  if (run.status !== 'running') return;
  let earliest = deadlineOf(plan, run);
  for (const chunk of run.nodes.chunks)
    for (const { value: state } of chunk) {
      if (state?.status === 'retrying') earliest = Math.min(earliest, state.retryAt);
      else if (state?.status === 'running')
        earliest = Math.min(earliest, state.dueAt ?? earliest, state.timeoutAt ?? earliest);
    }
  for (const [, { expiresAt }] of run.interrupts) earliest = Math.min(earliest, expiresAt ?? earliest);
  return Number.isFinite(earliest) ? earliest : undefined;
}

/** Whether a node is working: it waits neither for an answer or a child, nor for its next attempt. */
export function isAtWork(run: Run): boolean {
  if (run.status !== 'running') return false;
  return run.nodes.chunks.some((chunk) =>
    chunk.some(({ id, value }) => value?.status === 'running' && !isAwaitingChild(run, id)),
  );
}

/** Whether the run can continue only when a child ends. */
export function waitsForChildren(plan: Plan, run: Run): boolean {
  if (run.status !== 'running' || isAtWork(run) || isReady(plan, run)) return false;
  if (childRequests(plan, run).length > 0) return false;
  return !run.nodes.chunks.some((chunk) => chunk.some(({ value }) => value?.status === 'retrying'));
}

/** Whether `advance` would produce events. */
export function isReady(plan: Plan, run: Run): boolean {
  if (run.status !== 'running') return false;
  if (plan.looping.some((node) => loopToFollow(node, run))) return true;
  // Undecided nodes are mostly at the end of the order; the search stops when all were seen.
  let undecided = plan.order.length - run.nodes.size;
  for (let i = plan.order.length - 1; i >= 0 && undecided > 0; i--) {
    const node = plan.order[i]!;
    if (run.nodes.get(node.id) !== undefined) continue;
    if (readinessOf(node, run) !== 'waiting') return true;
    undecided--;
  }
  return !run.nodes.chunks.some((chunk) => chunk.some(({ value }) => isActive(value)));
}

/** Work that runs or must run outside the process: the same for normal dispatch and after a crash. */
export interface Execution {
  readonly nodeId: string;
  readonly typeId: string;
  readonly attempt: number;
  readonly visit: number;
  /** The node's calls are numbered from here, so that another visit never reuses the records of this one. */
  readonly ordinalBase: number;
  readonly inputs: JsonObject;
  readonly config: JsonObject;
  readonly timeoutAt?: number;
  /** The variables of the run, unmasked. */
  readonly variables: JsonObject;
  /** The prompts that the workflow sets for nodes without their own. */
  readonly promptRefs?: NonNullable<WorkflowDefinition['defaults']>['promptRefs'];
  /** The answers to its interrupts in this visit, by key. */
  readonly answers?: JsonObject;
  /** Set when the code belongs to a pack. */
  readonly pack?: PackExecution;
}

export interface PackExecution
  extends Pick<PackNodeType, 'packName' | 'packVersion' | 'integrity' | 'effect'> {
  /** The variables of the run, unmasked. */
  readonly variables: JsonObject;
  /** The answers to the node's interrupts so far in this visit, by the pack's keys. */
  readonly answers: JsonObject;
  /** The outcomes of the workflows that this attempt called, in the order of its calls. */
  readonly calls: readonly CalledRun[];
  /** The number of times that the code was stopped for an answer or a child in this visit. Never decreases. */
  readonly rounds: number;
}

export const ORDINALS_PER_VISIT = 1_000_000;

export function executions(plan: Plan, run: Run): Execution[] {
  if (run.status !== 'running') return [];
  const found: Execution[] = [];
  for (const node of plan.outside) {
    const state = run.nodes.get(node.id);
    if (state?.status !== 'running' || isAwaitingChild(run, node.id)) continue;
    const visit = run.visits.get(node.id) ?? 1;
    found.push({
      nodeId: node.id,
      typeId: node.typeId,
      attempt: state.attempt,
      visit,
      ordinalBase: (visit - 1) * ORDINALS_PER_VISIT,
      inputs: state.inputs ?? {},
      config: nodeConfig(node),
      variables: run.variables,
      ...(plan.definition.defaults?.promptRefs && { promptRefs: plan.definition.defaults.promptRefs }),
      ...(state.timeoutAt !== undefined && { timeoutAt: state.timeoutAt }),
      ...(state.answers && { answers: state.answers }),
      ...(node.pack && { pack: packExecution(node.pack, run.variables, state) }),
    });
  }
  return found;
}

const packExecution = (
  { packName, packVersion, integrity, effect }: PackNodeType,
  variables: JsonObject,
  { attempt, answers = {}, calls = [] }: Extract<NodeState, { status: 'running' }>,
): PackExecution => ({
  packName,
  packVersion,
  integrity,
  effect,
  variables,
  answers,
  calls: answeredCalls(calls, attempt),
  rounds: Object.keys(answers).length + calls.length,
});

const WAITING: { readonly [Kind in InterruptKind]: RunStatus } = {
  approval: 'waiting-approval',
  clarification: 'waiting-input',
  'external-event': 'waiting-external',
  custom: 'waiting-input',
  'conversation.start': 'waiting-approval',
  'conversation.exchange': 'waiting-approval',
  'conversation.close': 'waiting-approval',
  'low-confidence': 'waiting-approval',
};

/** The status that readers see: a run is waiting once nothing else in it can proceed. */
export function statusOf(plan: Plan, run: Run): RunStatus {
  if (run.status !== 'running') return run.status;
  const first = firstInterrupt(run);
  if (!first) return 'running';
  for (const chunk of run.nodes.chunks)
    for (const { value } of chunk)
      if (value?.status === 'running' || value?.status === 'retrying') return 'running';
  return isReady(plan, run) ? 'running' : WAITING[first.interrupt.kind];
}

export interface OpenInterrupt {
  readonly nodeId: string;
  readonly interrupt: Interrupt;
}

/** The interrupt that has been open longest. */
export function firstInterrupt(run: Run): OpenInterrupt | undefined {
  let first: OpenInterrupt | undefined;
  for (const [nodeId, interrupt] of run.interrupts) {
    if (!first || interrupt.suspendedSeq < first.interrupt.suspendedSeq) first = { nodeId, interrupt };
  }
  return first;
}
