/** A task of a run's actor, and its writes beside the run's own events. */
import type { Command, EmittedEvent, Execution } from '@gantry/engine';
import type { CommitGroup, CommitResult, Entry, Write } from '@gantry/store';
import { type PreparedChildren, takenChildren } from './children.ts';
import type { Inputs } from './clock.ts';
import { answerBody, type CommandRecord } from './command-answer.ts';
import type { RunAppend } from './commit-group.ts';
import { replyWrite } from './reply.ts';
import type { CommandResult } from './runtime.ts';

export interface Task {
  readonly command: Command;
  readonly record?: CommandRecord | undefined;
  readonly resolve?: (result: CommandResult) => void;
  readonly reject?: (error: unknown) => void;
  /** The mail that requested it; deleted once the task is done. */
  readonly mail?: Entry;
  /** Another process waits for the answer under this id. */
  readonly replyId?: string;
  /** Writes of a call of a node, in the commit of its events. `lost` is called when one of them loses. */
  readonly call?: { readonly writes: CommitGroup; readonly lost: (result: CommitResult) => void };
  /** Created with the events, if there are any. */
  readonly children?: PreparedChildren;
}

export function taskWrites(
  task: Task,
  { decision: { run } }: RunAppend,
  result: CommandResult,
  inputs: Inputs,
): Write[] {
  const writes: Write[] = [];
  if (task.children) for (const child of takenChildren(task.children, run)) writes.push(...child.writes);
  if (task.mail) writes.push(deletion(task.mail), ...replyWrite(inputs, task.mail, task.replyId, result));
  const body = result.kind === 'done' ? result.body : undefined;
  if (task.record && body !== undefined)
    writes.push({ kind: 'idempotency', record: { ...task.record.record, body }, now: inputs.now() });
  return writes;
}

export const emitting = (
  { nodeId, attempt, visit }: Execution,
  events: readonly EmittedEvent[],
  now: number,
): Command => ({ type: 'emit', now, nodeId, attempt, visit, events });

/**
 * Whether the log accepted the events of a node; null: it did not. `onPaused` is called if it may accept them later:
 * events that it never accepts, such as none or too many, are no reason to run the node again.
 */
export const takenBy =
  (resolve: (result: CommitResult | null) => void, onPaused: () => void) =>
  (result: CommandResult): void => {
    if (result.kind === 'refused' && result.run.status === 'paused') onPaused();
    resolve(result.kind === 'done' ? { won: true } : null);
  };

/** A refused command may still write events, such as a denial. */
export function resultOf(
  { record }: Task,
  { decision: { run, refusal }, head: { status } }: RunAppend,
  now: number,
): CommandResult {
  if (refusal) return { kind: 'refused', run, status, refusal };
  const body = record && { body: answerBody(record.answer, { run, status }, now) };
  return { kind: 'done', run, status, ...body };
}

export const preparingId = (command: Command): string =>
  command.type === 'childrenStarted' ? `${command.nodeId}\0${command.visit}` : '';

export const deletion = ({ kind, tenant, id, version }: Entry): Write => ({
  kind: 'deleteEntry',
  key: { kind, tenant, id },
  expectedVersion: version,
});
