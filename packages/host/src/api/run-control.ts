import type { Run } from '@gantry/engine';
import {
  BulkCancelRequest,
  BulkCancelResponse,
  type BulkCancelResult,
  CancelRunRequest,
  CancelRunResponse,
  CONTROL_LIMITS,
  ERRORS,
  type ErrorCode,
  OpenwopError,
  PauseRunRequest,
  PauseRunResponse,
  ResumeRunRequest,
  ResumeRunResponse,
} from '@gantry/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RunCommand } from '../runtime/runtime.ts';
import { type Api, type ApiDeps, callerOf } from './context.ts';
import type { Answer, Idempotency, RecordAnswer } from './idempotency.ts';
import { RUN_URL, RunParams } from './runs.ts';

const isoTime = (at: number): string => new Date(at).toISOString();

function conflict(run: Run): OpenwopError {
  return new OpenwopError('conflict', {
    message: `The run is ${run.status}, which does not allow that.`,
    details: {
      runStatus: run.status,
      ...(run.pausedAt !== undefined && { pausedAt: isoTime(run.pausedAt) }),
    },
  });
}

/** One verb on one run: what it asks, and how it answers when done or refused. */
interface Verb {
  readonly status: number;
  body(run: Run): string;
  /** The body when the run is already where the verb leads; null when that is a conflict. */
  already(run: Run): string | null;
}

const cancelBody = (run: Run): string => JSON.stringify({ runId: run.facts.runId, status: run.status });
const isCancelled = (run: Run): boolean => run.status === 'cancelled' || run.status === 'cancelling';

const CANCEL: Verb = {
  status: 200,
  body: cancelBody,
  already: (run) => (isCancelled(run) ? cancelBody(run) : null),
};

const bulkFailure = (runId: string, code: ErrorCode): BulkCancelResult => ({
  runId,
  ok: false,
  error: { code, message: ERRORS[code].message },
});

export function runControlRoutes(app: Api, deps: ApiDeps, idempotency: Idempotency): void {
  const { runtime, now } = deps;

  const pause: Verb = {
    status: 202,
    body: ({ facts: { runId }, pausedAt = now() }) =>
      JSON.stringify({ runId, status: 'paused', pausedAt: isoTime(pausedAt) }),
    already: () => null,
  };
  const resume: Verb = {
    status: 202,
    body: ({ facts: { runId } }) => JSON.stringify({ runId, status: 'running', resumedAt: isoTime(now()) }),
    already: () => null,
  };

  async function perform(
    key: { tenant: string; runId: string },
    command: RunCommand,
    verb: Verb,
    record: RecordAnswer | undefined,
  ): Promise<Answer | 'duplicate'> {
    let recorded: string | undefined;
    const result = await runtime.command(
      key,
      command,
      record &&
        ((run) => {
          recorded = verb.body(run);
          return record(verb.status, recorded);
        }),
    );
    switch (result.kind) {
      case 'duplicate':
        return 'duplicate';
      case 'not_found':
        throw new OpenwopError('not_found');
      case 'refused': {
        const body = verb.already(result.run);
        if (body === null) throw conflict(result.run);
        return { status: verb.status, body, recorded: false };
      }
      case 'done':
        return {
          status: verb.status,
          body: recorded ?? verb.body(result.run),
          recorded: recorded !== undefined,
        };
    }
  }

  function control(
    request: FastifyRequest,
    reply: FastifyReply,
    path: string,
    runId: string,
    command: RunCommand,
    verb: Verb,
  ): Promise<string> {
    const key = { tenant: callerOf(request).tenant, runId };
    return idempotency.answer(request, reply, `POST /v1/runs/${runId}${path}`, (record) =>
      perform(key, command, verb, record),
    );
  }

  for (const url of [`${RUN_URL}/cancel`, `${RUN_URL}::cancel`]) {
    app.post(
      url,
      {
        schema: {
          summary: 'Cancel a run',
          params: RunParams,
          body: CancelRunRequest,
          response: { 200: CancelRunResponse },
        },
      },
      (request, reply) => {
        const command = { type: 'cancel', ...request.body, by: callerOf(request).keyId } as const;
        return control(request, reply, '/cancel', request.params.runId, command, CANCEL);
      },
    );
  }

  app.post(
    `${RUN_URL}::pause`,
    {
      schema: {
        summary: 'Pause a run',
        params: RunParams,
        body: PauseRunRequest,
        response: { 202: PauseRunResponse },
      },
    },
    (request, reply) => {
      const { reason, drainPolicy = 'drain-current-node' } = request.body;
      const command = { type: 'pause', ...(reason !== undefined && { reason }), drainPolicy } as const;
      return control(request, reply, ':pause', request.params.runId, command, pause);
    },
  );

  app.post(
    `${RUN_URL}::resume`,
    {
      schema: {
        summary: 'Resume a paused run',
        params: RunParams,
        body: ResumeRunRequest,
        response: { 202: ResumeRunResponse },
      },
    },
    (request, reply) =>
      control(request, reply, ':resume', request.params.runId, { type: 'resume', ...request.body }, resume),
  );

  async function cancelOne(tenant: string, runId: string, command: RunCommand): Promise<BulkCancelResult> {
    const result = await runtime.command({ tenant, runId }, command);
    if (result.kind === 'not_found') return bulkFailure(runId, 'not_found');
    if (result.kind === 'duplicate') throw new Error('only a request with a key can be a duplicate');
    const { run } = result;
    if (result.kind === 'refused' && !isCancelled(run)) return bulkFailure(runId, 'run_terminal');
    return { runId, ok: true, status: run.status };
  }

  app.post(
    '/v1/runs::bulk-cancel',
    {
      attachValidation: true,
      schema: {
        summary: 'Cancel up to 100 runs',
        body: BulkCancelRequest,
        response: { 200: BulkCancelResponse },
      },
    },
    (request, reply) => {
      if (request.validationError) throw withRunIdsMax(request.validationError);
      const { runIds, reason } = request.body;
      const { tenant, keyId } = callerOf(request);
      const command = { type: 'cancel', ...(reason !== undefined && { reason }), by: keyId } as const;
      return idempotency.answer(request, reply, 'POST /v1/runs:bulk-cancel', async () => {
        const results = await Promise.all(runIds.map((runId) => cancelOne(tenant, runId, command)));
        return { status: 200, body: JSON.stringify({ results }), recorded: false };
      });
    },
  );
}

function withRunIdsMax(error: Error): Error {
  if (!(error instanceof OpenwopError)) return error;
  const details = { ...error.details, maxRunIds: CONTROL_LIMITS.bulkRunIdsMax };
  return new OpenwopError(error.code, { message: error.message, details });
}
