import { type RunFacts, statusOf } from '@gantry/engine';
import {
  type Answer,
  type Api,
  callerOf,
  type Idempotency,
  type RecordAnswer,
  traceparentOf,
} from '@gantry/http';
import {
  checkRunOptions,
  ForkRunRequest,
  ForkRunResponse,
  type JsonObject,
  OpenwopError,
} from '@gantry/protocol';
import { createForks, type ForkRequest } from '../runtime/fork.ts';
import type { PreparedRun, ReadRun } from '../runtime/runtime.ts';
import { checkConfigurable } from '../workflows/configurable.ts';
import type { ApiDeps } from './context.ts';
import { missingRun } from './missing-run.ts';
import { RUN_URL, RunParams } from './runs.ts';

const FORK = {
  summary: 'Fork a run: live it again from its record, or branch off into a new one',
  params: RunParams,
  body: ForkRunRequest,
  response: { 201: ForkRunResponse },
};

const invalid = (field: string, problem: string): OpenwopError =>
  new OpenwopError('validation_error', {
    message: `${field} ${problem}.`,
    details: { fields: [{ field, problem }] },
  });

/** What the body's schema cannot say. */
function fromSeqOf({ mode, fromSeq, runOptionsOverlay = {} }: ForkRunRequest): number {
  if (mode === 'branch') {
    if (fromSeq === undefined) throw invalid('body/fromSeq', 'is needed for a branch');
    return fromSeq;
  }
  if (Object.keys(runOptionsOverlay).length > 0)
    throw invalid('body/runOptionsOverlay', 'is for branches: a replay keeps the options of its source');
  return fromSeq ?? 0;
}

function changesOf(source: ReadRun, { runOptionsOverlay }: ForkRunRequest): ForkRequest['changes'] {
  if (!runOptionsOverlay) return {};
  const { configurable, tags, metadata } = runOptionsOverlay;
  const { facts } = source.run;
  const changes: { -readonly [Key in keyof RunFacts]?: RunFacts[Key] } = {};
  if (configurable) changes.configurable = { ...facts.configurable, ...(configurable as JsonObject) };
  if (metadata) changes.metadata = { ...facts.metadata, ...(metadata as JsonObject) };
  if (tags) changes.tags = tags;
  checkRunOptions({ ...runOptionsOverlay, ...changes, workflowId: facts.workflowId, tags: [] });
  checkConfigurable(source.plan.definition, changes.configurable ?? facts.configurable);
  return changes;
}

function forkedBody({ plan, run }: PreparedRun): string {
  const { runId, fork } = run.facts;
  const status = statusOf(plan, run);
  return JSON.stringify({ runId, ...fork, status, eventsUrl: `/v1/runs/${runId}/events` });
}

export function forkRoute(app: Api, deps: ApiDeps, idempotency: Idempotency): void {
  const { runtime, store, now, randomBytes, redactions } = deps;
  const prepareFork = createForks({ runs: store.runs, now, randomBytes, redactions });

  async function fork(
    key: { tenant: string; runId: string },
    body: ForkRunRequest,
    traceparent: string,
    record: RecordAnswer | undefined,
  ): Promise<Answer | 'duplicate'> {
    const fromSeq = fromSeqOf(body);
    const source = await runtime.read(key);
    if (source === null) throw missingRun(deps, key.runId, { sourceRunId: key.runId, fromSeq });
    const changes = { ...changesOf(source, body), traceparent };
    const prepared = await prepareFork(source, { mode: body.mode, fromSeq, changes });
    const answer = forkedBody(prepared);
    const result = await runtime.adopt(prepared, record && { idempotency: () => record(201, answer) });
    if (result.kind === 'duplicate') return 'duplicate';
    return { status: 201, body: answer, recorded: record !== undefined };
  }

  app.post(`${RUN_URL}::fork`, { schema: FORK }, (request, reply) => {
    const { runId } = request.params;
    const key = { tenant: callerOf(request).tenant, runId };
    return idempotency.answer(request, reply, `POST /v1/runs/${runId}:fork`, (record) =>
      fork(key, request.body, traceparentOf(request), record),
    );
  });
}
