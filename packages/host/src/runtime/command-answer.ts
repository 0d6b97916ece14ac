/**
 * The answer to a command, as data: the process that executes the command may not be the one that received it,
 * and it writes the idempotency record in the commit of the effect.
 */
import { type Run, voteCount } from '@gantry/engine';
import { isoTime, type ResolveInterruptResponse, type RunStatus } from '@gantry/protocol';
import type { IdempotencyRecord } from '@gantry/store';

export type CommandAnswer =
  | { readonly type: 'cancelled' | 'paused' | 'resumed' }
  | { readonly type: 'registered'; readonly artifactId: string }
  | { readonly type: 'resolved'; readonly nodeId: string; readonly changed?: false };

export interface CommandRecord {
  readonly answer: CommandAnswer;
  /** Complete except for the body, which is made from the run. */
  readonly record: Omit<IdempotencyRecord, 'body'>;
}

/** The body of the answer; `status` is the status that readers see. */
export function answerBody(
  answer: CommandAnswer,
  { run, status }: { readonly run: Run; readonly status: RunStatus },
  now: number,
): string {
  const { runId } = run.facts;
  switch (answer.type) {
    case 'cancelled':
      return JSON.stringify({ runId, status: run.status });
    case 'paused':
      return JSON.stringify({ runId, status: 'paused', pausedAt: isoTime(run.pausedAt ?? now) });
    case 'resumed':
      return JSON.stringify({ runId, status: 'running', resumedAt: isoTime(now) });
    case 'registered': {
      const { artifactId } = answer;
      const version = String(run.artifacts.get(artifactId)?.version ?? 0);
      return JSON.stringify({ runId, artifactId, version });
    }
    case 'resolved':
      return JSON.stringify(resolvedBody(answer, run, status));
  }
}

function resolvedBody(
  { nodeId, changed }: Extract<CommandAnswer, { type: 'resolved' }>,
  { facts: { runId }, interrupts }: Run,
  status: RunStatus,
): ResolveInterruptResponse {
  const interrupt = interrupts.get(nodeId);
  const votes = interrupt && interrupt.votes.length > 0 ? { votes: voteCount(interrupt) } : {};
  return { runId, nodeId, status, ...(changed === false && { changed }), ...votes };
}
