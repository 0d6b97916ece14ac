/** What cancel, pause and resume answer, done or refused. */

import type { Run } from '@gantry/engine';
import type { Answer, RecordAnswer } from '@gantry/http';
import { type BulkCancelResult, ERRORS, type ErrorCode, isTerminal, OpenwopError } from '@gantry/protocol';
import type { RunKey } from '@gantry/store';
import type { RunCommand, Runtime } from '../runtime/runtime.ts';

type Commands = Pick<Runtime, 'command'>;

export interface Verb {
  readonly status: number;
  body(run: Run): string;
  /** Whether a run that refused is already where the verb leads: for a cancel, at an end of any kind. */
  isThere(run: Run): boolean;
}

const isoTime = (at: number): string => new Date(at).toISOString();
const isCancelled = (run: Run): boolean => run.status === 'cancelled' || run.status === 'cancelling';

export function verbs(now: () => number): Readonly<Record<'cancel' | 'pause' | 'resume', Verb>> {
  return {
    cancel: {
      status: 200,
      body: ({ facts: { runId }, status }) => JSON.stringify({ runId, status }),
      isThere: (run) => isTerminal(run.status) || isCancelled(run),
    },
    pause: {
      status: 202,
      body: ({ facts: { runId }, pausedAt = now() }) =>
        JSON.stringify({ runId, status: 'paused', pausedAt: isoTime(pausedAt) }),
      isThere: () => false,
    },
    resume: {
      status: 202,
      body: ({ facts: { runId } }) => JSON.stringify({ runId, status: 'running', resumedAt: isoTime(now()) }),
      isThere: () => false,
    },
  };
}

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
  runtime: Commands,
  key: RunKey,
  command: RunCommand,
  verb: Verb,
  record: RecordAnswer | undefined,
): Promise<Answer | 'duplicate'> {
  const { status } = verb;
  // What was recorded is what is answered, to the millisecond.
  let recorded: string | undefined;
  const result = await runtime.command(
    key,
    command,
    record &&
      ((run) => {
        recorded = verb.body(run);
        return record(status, recorded);
      }),
  );
  switch (result.kind) {
    case 'duplicate':
      return 'duplicate';
    case 'not_found':
      throw new OpenwopError('not_found');
    case 'refused':
      if (!verb.isThere(result.run)) throw conflict(result.run);
      return { status, body: verb.body(result.run), recorded: false };
    case 'done':
      return { status, body: recorded ?? verb.body(result.run), recorded: recorded !== undefined };
  }
}

const failure = (runId: string, code: ErrorCode): BulkCancelResult => ({
  runId,
  ok: false,
  error: { code, message: ERRORS[code].message },
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
