/** What a run's actor has to do next, and what doing it writes beside the run's own events. */
import type { Command, Decision, Run } from '@gantry/engine';
import type { RunStatus } from '@gantry/protocol';
import type { Entry, Write } from '@gantry/store';
import { type PreparedChildren, takenChildren } from './children.ts';
import type { RunAppend } from './commit-group.ts';
import type { Postage } from './mail.ts';
import { replyWrite } from './reply.ts';
import type { CommandResult, IdempotencyFor } from './runtime.ts';

export interface Task {
  readonly command: Command;
  readonly record?: IdempotencyFor<Run> | undefined;
  readonly resolve?: (result: CommandResult) => void;
  readonly reject?: (error: unknown) => void;
  /** What asked for it; gone once the task is done. */
  readonly mail?: Entry;
  /** Another process waits for the answer under this id. */
  readonly replyId?: string;
  /** Created with the events, if there are any. */
  readonly children?: PreparedChildren;
}

export function taskWrites(task: Task, { decision, head }: RunAppend, postage: Postage): Write[] {
  const { run, refusal } = decision;
  const writes: Write[] = [];
  if (task.children) for (const child of takenChildren(task.children, run)) writes.push(...child.writes);
  if (task.mail) {
    const result = resultOf(decision, head.status);
    writes.push(deletion(task.mail), ...replyWrite(postage, task.mail, task.replyId, result));
  }
  const record = refusal ? undefined : task.record?.(run, head.status);
  if (record) writes.push({ kind: 'idempotency', record, now: postage.now() });
  return writes;
}

/** A command may leave a trace, such as who was denied, and be refused all the same. */
export const resultOf = ({ run, refusal }: Decision, status: RunStatus): CommandResult =>
  refusal ? { kind: 'refused', run, status, refusal } : { kind: 'done', run, status };

export const preparingId = (command: Command): string =>
  command.type === 'childrenStarted' ? `${command.nodeId}\0${command.visit}` : '';

export const deletion = ({ kind, tenant, id, version }: Entry): Write => ({
  kind: 'deleteEntry',
  key: { kind, tenant, id },
  expectedVersion: version,
});
