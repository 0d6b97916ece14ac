/** What cancel, pause and resume answer, done or refused. */

import type { Run } from '@gantry/engine';
import type { Answer, RecordAnswer } from '@gantry/http';
import {
  type BulkCancelResult,
  ERRORS,
  type ErrorCode,
  isoTime,
  isTerminal,
  OpenwopError,
} from '@gantry/protocol';
import type { RunKey } from '@gantry/store';
import { answerBody, type CommandAnswer } from '../runtime/command-answer.ts';
import type { RunCommand, Runtime } from '../runtime/runtime.ts';
import { answerOf, recordOf } from './command-record.ts';

type Commands = Pick<Runtime, 'command'>;

export interface Verb {
  readonly status: number;
  readonly answer: CommandAnswer;
  /** Whether a run that refused is already where the verb leads: for a cancel, at an end of any kind. */
  isThere(run: Run): boolean;
}

const isCancelled = (run: Run): boolean => run.status === 'cancelled' || run.status === 'cancelling';

export const VERBS: Readonly<Record<'cancel' | 'pause' | 'resume', Verb>> = {
  cancel: {
    status: 200,
    answer: { type: 'cancelled' },
    isThere: (run) => isTerminal(run.status) || isCancelled(run),
  },
  pause: { status: 202, answer: { type: 'paused' }, isThere: () => false },
  resume: { status: 202, answer: { type: 'resumed' }, isThere: () => false },
};

function conflict(run: Run): OpenwopError {
  return new OpenwopError('conflict', {
    message: `The run is ${run.status}, which does not allow that.`,
    details: {
      runStatus: run.status,
      ...(run.pausedAt !== undefined && { pausedAt: isoTime(run.pausedAt) }),
    },
  });
}

export async function perform(
  { runtime, now }: { readonly runtime: Commands; readonly now: () => number },
  key: RunKey,
  command: RunCommand,
  verb: Verb,
  record: RecordAnswer | undefined,
): Promise<Answer | 'duplicate'> {
  const { status, answer } = verb;
  const result = await runtime.command(key, command, recordOf(answer, status, record));
  switch (result.kind) {
    case 'duplicate':
      return 'duplicate';
    case 'not_found':
      throw new OpenwopError('not_found');
    case 'refused':
      if (!verb.isThere(result.run)) throw conflict(result.run);
      return { status, body: answerBody(answer, result, now()), recorded: false };
    case 'done':
      return answerOf(answer, status, result, now());
  }
}

const failure = (runId: string, code: ErrorCode): BulkCancelResult => ({
  runId,
  ok: false,
  error: { error: code, code, message: ERRORS[code].message },
});

/** One item of a bulk cancel: it fails alone. */
export async function cancelOne(
  runtime: Commands,
  key: RunKey,
  command: RunCommand,
): Promise<BulkCancelResult> {
  const { runId } = key;
  const result = await runtime.command(key, command);
  if (result.kind === 'not_found') return failure(runId, 'not_found');
  if (result.kind === 'duplicate') throw new Error('only a request with a key can be a duplicate');
  const { run } = result;
  if (result.kind === 'refused' && !isCancelled(run)) return failure(runId, 'run_terminal');
  return { runId, ok: true, status: run.status };
}
