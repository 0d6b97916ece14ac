import type { Json } from '@gantry/protocol';
import type { Plan } from './plan.ts';
import type { Run } from './run.ts';
import { failRun } from './run-end.ts';
import { emit, type Step } from './step.ts';

export const atMost = (ceiling: number, wish: Json | undefined): number =>
  typeof wish === 'number' && wish > 0 && wish < ceiling ? wish : ceiling;

const nodeExecutionsMax = (run: Run): number =>
  atMost(run.facts.limits.maxNodeExecutions, run.facts.configurable.recursionLimit);

function runDurationMax(plan: Plan, run: Run): number {
  const { configurable, limits } = run.facts;
  return atMost(atMost(limits.maxRunDurationMs, plan.timeoutMs), configurable.runTimeoutMs);
}

/** When the run's time limit expires, if it is not paused before. */
export function deadlineOf(plan: Plan, run: Run): number {
  if (run.startedAt === undefined) return Number.POSITIVE_INFINITY;
  return run.startedAt + run.pausedMs + Math.min(hardLimit(run), authorsLimit(plan, run));
}

/** The limits of the host and the caller include the time in which the run waits for an answer. */
function hardLimit(run: Run): number {
  const { configurable, limits } = run.facts;
  return atMost(limits.maxRunDurationMs, configurable.runTimeoutMs);
}

/** The author's limit counts only work, not the time in which the run waits for a person. */
function authorsLimit(plan: Plan, run: Run): number {
  if (plan.timeoutMs === undefined || run.waitingSince !== undefined) return Number.POSITIVE_INFINITY;
  return plan.timeoutMs + run.waitedMs;
}

/** Ends a run whose time limit has expired. Returns whether it did. */
export function enforceDeadline(step: Step): boolean {
  const { plan, run } = step;
  if (run.status !== 'running' || step.now < deadlineOf(plan, run)) return false;
  const limit = runDurationMax(plan, run);
  const elapsedMs = Math.max(limit + 1, step.now - run.startedAt! - run.pausedMs);
  emit(step, 'cap.breached', { kind: 'run-duration', limit, observed: elapsedMs });
  failRun(step, {
    code: 'run_timeout',
    message: `The run took longer than its limit of ${limit} ms.`,
    details: { elapsedMs, limitMs: limit },
  });
  return true;
}

/** Ends a run that would exceed its node limit. Returns whether it did. */
export function enforceNodeExecutions(step: Step, nodeId: string): boolean {
  const limit = nodeExecutionsMax(step.run);
  if (step.run.nodeExecutions < limit) return false;
  emit(step, 'cap.breached', { kind: 'node-executions', limit, observed: limit + 1, nodeId });
  failRun(step, {
    code: 'recursion_limit_exceeded',
    message: `The run started ${limit} nodes, which is its limit.`,
    details: { limit, nodeId },
  });
  return true;
}
