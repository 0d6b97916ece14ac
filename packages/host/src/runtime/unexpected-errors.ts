/**
 * An exception that nobody expected ends the work on its run, which is then read again, and repeats it. The third one of
 * the same execution fails the node with its cause.
 *
 * I1  They are counted in the store, so a restart does not begin again; for an hour, since repeats follow within a minute.
 * I2  What may go well another time is not counted: the store or the system refuses (unreachable, full, out of memory),
 *     the run is lost to another process, or others keep changing the same records.
 */
import { hash } from 'node:crypto';
import type { Execution, Outcome } from '@gantry/engine';
import { LimiterError } from '@gantry/limiter';
import { OpenwopError, type RunError } from '@gantry/protocol';
import { Contended } from '@gantry/resources';
import { type CommitPipeline, isOfContent, type RunKey, StoreError } from '@gantry/store';
import type { Executor } from './outside-work.ts';
import { OwnedElsewhereError, StaleRunError } from './run-errors.ts';
import type { Task } from './run-task.ts';

export const THROWN = 'thrown';
const TIMES_MAX = 3;
const COUNTED_MS = 3_600_000;

function mayPass(error: unknown): boolean {
  if (error instanceof StoreError) return !isOfContent(error);
  if (error instanceof OpenwopError) return error.retriable || error instanceof Contended;
  const isOfSystem = error instanceof Error && 'syscall' in error;
  const isOfRun = error instanceof StaleRunError || error instanceof OwnedElsewhereError;
  return isOfSystem || isOfRun || error instanceof LimiterError;
}

export interface UnexpectedErrorsOptions {
  readonly pipeline: Pick<CommitPipeline, 'commit'>;
  readonly now: () => number;
}

/** `executorOf` may throw as well. */
export const failingRepeated =
  (options: UnexpectedErrorsOptions, executorOf: (execution: Execution) => Executor) =>
  (execution: Execution): Executor =>
  async (key, _, signal, work) => {
    try {
      return await executorOf(execution)(key, execution, signal, work);
    } catch (error) {
      if (signal.aborted || mayPass(error) || (await count(options, key, execution)) < TIMES_MAX) throw error;
      return failedBy(error, `${TIMES_MAX} times in a row `);
    }
  };

async function count(
  { pipeline, now }: UnexpectedErrorsOptions,
  { tenant, runId }: RunKey,
  { nodeId, visit, attempt }: Execution,
): Promise<number> {
  const key = { kind: THROWN, tenant, id: `${runId}/${visit}/${attempt}/${hash('sha256', nodeId)}` };
  const result = await pipeline.commit([{ kind: 'adjust', key, delta: 1, expiresAt: now() + COUNTED_MS }]);
  return (result.won && result.values?.[0]) || 1;
}

/** The message goes through redaction, as everything in the log. */
export function failedBy(error: unknown, howOften = ''): Extract<Outcome, { readonly ok: false }> {
  return { ok: false, retryable: false, error: unexpected(error, howOften) };
}

function unexpected(error: unknown, howOften: string): RunError {
  if (error instanceof OpenwopError && error.status < 500) {
    const { code, message, details } = error;
    return { code, message, ...(details && { details }) };
  }
  const cause = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return {
    code: 'internal_error',
    message:
      `The host failed ${howOften}at this node (${cause.slice(0, 500)}). ` +
      'Change what the node is given, or report the fault with the log of the host.',
  };
}

/**
 * After an exception that wrote nothing and would come again: only the caller of the task fails, or the node that it
 * ends. Throws what the run itself has to be read again for.
 */
export function failInstead(task: Task, error: unknown, tasks: Task[], of?: 'commit'): undefined {
  const { command, reject } = task;
  reject?.(error);
  if (of === 'commit' && !isOfContent(error)) throw error;
  const hasFailed = command.type === 'settle' && 'ok' in command.outcome && !command.outcome.ok;
  if (command.type === 'settle' && !hasFailed)
    tasks.unshift({ ...task, command: { ...command, outcome: failedBy(error) } });
  else if (!reject) throw error;
}
