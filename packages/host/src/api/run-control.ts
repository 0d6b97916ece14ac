import type { Run } from '@gantry/engine';
import { type Api, type Caller, callerOf, type Idempotency } from '@gantry/http';
import {
  BulkCancelRequest,
  BulkCancelResponse,
  type BulkCancelResult,
  CancelRunRequest,
  CancelRunResponse,
  CONTROL_LIMITS,
  ERRORS,
  type ErrorCode,
  given,
  isoTime,
  isTerminal,
  OpenwopError,
  PauseRunRequest,
  PauseRunResponse,
  ResumeRunRequest,
  ResumeRunResponse,
} from '@gantry/protocol';
import type { RunKey } from '@gantry/store';
import Type, { type Static, type TSchema } from 'typebox';
import type { CommandAnswer } from '../runtime/command-answer.ts';
import { deleteRun } from '../runtime/run-deletion.ts';
import type { RunCommand } from '../runtime/runtime.ts';
import { commanded } from './command-record.ts';
import type { ApiDeps } from './context.ts';
import { missingRun } from './missing-run.ts';
import { HOST_RUN_URL, RUN_URL, RunParams } from './runs.ts';

const isCancelled = (run: Run): boolean => run.status === 'cancelled' || run.status === 'cancelling';

type Asked = Static<typeof PauseRunRequest>;

interface Verb {
  /** Paths below the run. All spellings are one operation, so a repeat may use any of them. */
  readonly paths: readonly string[];
  readonly summary: string;
  readonly body: TSchema;
  readonly response: Readonly<Record<number, TSchema>>;
  readonly answer: CommandAnswer;
  readonly command: (asked: Asked, caller: Caller) => RunCommand;
  /** Whether a run that refused is already in the requested state. For a cancel this is any terminal state. */
  readonly isThere?: (run: Run) => boolean;
}

const VERBS: readonly Verb[] = [
  {
    paths: ['/cancel', ':cancel'],
    summary: 'Cancel a run',
    body: CancelRunRequest,
    response: { 200: CancelRunResponse },
    answer: { type: 'cancelled' },
    command: (asked, { principal }) => ({ type: 'cancel', ...asked, by: principal }),
    isThere: (run) => isTerminal(run.status) || isCancelled(run),
  },
  {
    paths: [':pause'],
    summary: 'Pause a run',
    body: PauseRunRequest,
    response: { 202: PauseRunResponse },
    answer: { type: 'paused' },
    command: (asked) => ({ type: 'pause', drainPolicy: 'drain-current-node', ...asked }),
  },
  {
    paths: [':resume'],
    summary: 'Resume a paused run',
    body: ResumeRunRequest,
    response: { 202: ResumeRunResponse },
    answer: { type: 'resumed' },
    command: (asked) => ({ type: 'resume', ...asked }),
  },
];

function conflict(run: Run): OpenwopError {
  const pausedAt = run.pausedAt === undefined ? undefined : isoTime(run.pausedAt);
  return new OpenwopError('conflict', {
    message: `The run is ${run.status}, which does not allow that.`,
    details: { runStatus: run.status, ...given({ pausedAt }) },
  });
}

const DELETE = {
  summary: 'Delete a run that has ended, with the runs that it started',
  params: RunParams,
  response: { 200: Type.Object({ deleted: Type.Array(Type.String()) }) },
};
const BULK_CANCEL = {
  summary: `Cancel up to ${CONTROL_LIMITS.bulkRunIdsMax} runs`,
  body: BulkCancelRequest,
  response: { 200: BulkCancelResponse },
};

function deleteRoute(app: Api, deps: ApiDeps, idempotency: Idempotency): void {
  const { store, features, log } = deps;
  app.delete(HOST_RUN_URL, { schema: DELETE }, (request, reply) => {
    const { runId } = request.params;
    const { tenant, keyId } = callerOf(request);
    return idempotency.answer(request, reply, `DELETE /v1/host/gantry/runs/${runId}`, async () => {
      const deleted = await deleteRun({ store, others: [features] }, { tenant, runId });
      if (!deleted) throw missingRun(deps, runId);
      log.info({ tenant, runId, keyId, runs: deleted.length }, 'run deleted');
      return { status: 200, body: JSON.stringify({ deleted }), recorded: false };
    });
  });
}

function verbRoutes(app: Api, deps: ApiDeps, idempotency: Idempotency, verb: Verb): void {
  const { paths, summary, body, response, answer, command, isThere } = verb;
  const schema = { summary, params: RunParams, body, response };
  const terms = {
    answer,
    status: Number(Object.keys(response)[0]),
    missing: () => new OpenwopError('not_found'),
    refused({ run }: { readonly run: Run }) {
      if (isThere?.(run)) return answer;
      throw conflict(run);
    },
  };
  for (const path of paths)
    app.post(`${RUN_URL}${path.replace(':', '::')}`, { schema }, (request, reply) => {
      const { runId } = request.params;
      const caller = callerOf(request);
      const wanted = command(request.body as Asked, caller);
      return idempotency.answer(request, reply, `POST /v1/runs/${runId}${paths[0]}`, (record) =>
        commanded(deps, { tenant: caller.tenant, runId }, wanted, terms, record),
      );
    });
}

export function runControlRoutes(app: Api, deps: ApiDeps, idempotency: Idempotency): void {
  deleteRoute(app, deps, idempotency);
  for (const verb of VERBS) verbRoutes(app, deps, idempotency, verb);

  app.post('/v1/runs::bulk-cancel', { attachValidation: true, schema: BULK_CANCEL }, (request, reply) => {
    if (request.validationError) throw withRunIdsMax(request.validationError);
    const { runIds, reason } = request.body;
    const { tenant, principal } = callerOf(request);
    const command = { type: 'cancel', ...given({ reason }), by: principal } as const;
    return idempotency.answer(request, reply, 'POST /v1/runs:bulk-cancel', async () => {
      const cancelled = runIds.map((runId) => cancelOne(deps, { tenant, runId }, command));
      const body = JSON.stringify({ results: await Promise.all(cancelled) });
      return { status: 200, body, recorded: false };
    });
  });
}

/** Adds the limit to the error of a request with too many runs. */
function withRunIdsMax(error: Error): Error {
  if (!(error instanceof OpenwopError)) return error;
  const details = { ...error.details, maxRunIds: CONTROL_LIMITS.bulkRunIdsMax };
  return new OpenwopError(error.code, { message: error.message, details });
}

const failure = (runId: string, code: ErrorCode): BulkCancelResult => ({
  runId,
  ok: false,
  error: { error: code, code, message: ERRORS[code].message },
});

/** One item of a bulk cancel. Its failure does not affect the others. */
export async function cancelOne(
  { runtime }: Pick<ApiDeps, 'runtime'>,
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
