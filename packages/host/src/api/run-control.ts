import { type Api, callerOf, type Idempotency } from '@gantry/http';
import {
  BulkCancelRequest,
  BulkCancelResponse,
  CancelRunRequest,
  CancelRunResponse,
  CONTROL_LIMITS,
  OpenwopError,
  PauseRunRequest,
  PauseRunResponse,
  ResumeRunRequest,
  ResumeRunResponse,
} from '@gantry/protocol';
import Type from 'typebox';
import { deleteRun } from '../runtime/run-deletion.ts';
import type { ApiDeps } from './context.ts';
import { missingRun } from './missing-run.ts';
import { cancelOne, perform, VERBS } from './run-verb.ts';
import { HOST_RUN_URL, RUN_URL, RunParams } from './runs.ts';

const CANCEL = {
  summary: 'Cancel a run',
  params: RunParams,
  body: CancelRunRequest,
  response: { 200: CancelRunResponse },
};
const PAUSE = {
  summary: 'Pause a run',
  params: RunParams,
  body: PauseRunRequest,
  response: { 202: PauseRunResponse },
};
const RESUME = {
  summary: 'Resume a paused run',
  params: RunParams,
  body: ResumeRunRequest,
  response: { 202: ResumeRunResponse },
};
const BULK_CANCEL = {
  summary: `Cancel up to ${CONTROL_LIMITS.bulkRunIdsMax} runs`,
  body: BulkCancelRequest,
  response: { 200: BulkCancelResponse },
};

const DELETE = {
  summary: 'Delete a run that has ended, with the runs that it started',
  params: RunParams,
  response: { 200: Type.Object({ deleted: Type.Array(Type.String()) }) },
};

function deleteRoute(app: Api, deps: ApiDeps, idempotency: Idempotency): void {
  const { store, services, log } = deps;
  app.delete(HOST_RUN_URL, { schema: DELETE }, (request, reply) => {
    const { runId } = request.params;
    const { tenant, keyId } = callerOf(request);
    return idempotency.answer(request, reply, `DELETE /v1/host/gantry/runs/${runId}`, async () => {
      const others = [services.surfaces, services.triggers.deadLetters];
      const deleted = await deleteRun({ store, others }, { tenant, runId });
      if (!deleted) throw missingRun(deps, runId);
      log.info({ tenant, runId, keyId, runs: deleted.length }, 'run deleted');
      return { status: 200, body: JSON.stringify({ deleted }), recorded: false };
    });
  });
}

export function runControlRoutes(app: Api, deps: ApiDeps, idempotency: Idempotency): void {
  const { runtime } = deps;
  deleteRoute(app, deps, idempotency);

  // Both spellings are one operation: a repeat may use the other.
  for (const url of [`${RUN_URL}/cancel`, `${RUN_URL}::cancel`]) {
    app.post(url, { schema: CANCEL }, (request, reply) => {
      const { runId } = request.params;
      const { tenant, keyId } = callerOf(request);
      const command = { type: 'cancel', ...request.body, by: keyId } as const;
      return idempotency.answer(request, reply, `POST /v1/runs/${runId}/cancel`, (record) =>
        perform(deps, { tenant, runId }, command, VERBS.cancel, record),
      );
    });
  }

  app.post(`${RUN_URL}::pause`, { schema: PAUSE }, (request, reply) => {
    const { runId } = request.params;
    const { tenant } = callerOf(request);
    const command = { type: 'pause', drainPolicy: 'drain-current-node', ...request.body } as const;
    return idempotency.answer(request, reply, `POST /v1/runs/${runId}:pause`, (record) =>
      perform(deps, { tenant, runId }, command, VERBS.pause, record),
    );
  });

  app.post(`${RUN_URL}::resume`, { schema: RESUME }, (request, reply) => {
    const { runId } = request.params;
    const { tenant } = callerOf(request);
    const command = { type: 'resume', ...request.body } as const;
    return idempotency.answer(request, reply, `POST /v1/runs/${runId}:resume`, (record) =>
      perform(deps, { tenant, runId }, command, VERBS.resume, record),
    );
  });

  app.post('/v1/runs::bulk-cancel', { attachValidation: true, schema: BULK_CANCEL }, (request, reply) => {
    if (request.validationError) throw withRunIdsMax(request.validationError);
    const { runIds, reason } = request.body;
    const { tenant, keyId } = callerOf(request);
    const command = { type: 'cancel', ...(reason !== undefined && { reason }), by: keyId } as const;
    return idempotency.answer(request, reply, 'POST /v1/runs:bulk-cancel', async () => {
      const cancelled = runIds.map((runId) => cancelOne(runtime, { tenant, runId }, command));
      const body = JSON.stringify({ results: await Promise.all(cancelled) });
      return { status: 200, body, recorded: false };
    });
  });
}

/** Callers who sent too many want to know how many they may. */
function withRunIdsMax(error: Error): Error {
  if (!(error instanceof OpenwopError)) return error;
  const details = { ...error.details, maxRunIds: CONTROL_LIMITS.bulkRunIdsMax };
  return new OpenwopError(error.code, { message: error.message, details });
}
