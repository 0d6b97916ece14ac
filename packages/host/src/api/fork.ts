import { type RunFacts, statusOf } from '@gantry/engine';
import {
  type Answer,
  type Api,
  callerOf,
  type Idempotency,
  type RecordAnswer,
  traceparentOf,
  warn,
} from '@gantry/http';
import {
  checkRunOptions,
  ForkRunRequest,
  ForkRunResponse,
  type JsonObject,
  OpenwopError,
  runOwnerOf,
} from '@gantry/protocol';
import type { RunKey } from '@gantry/store';
import { createForks, type ForkRequest } from '../runtime/fork.ts';
import type { PreparedRun, ReadRun } from '../runtime/runtime.ts';
import { checkConfigurable } from '../workflows/configurable.ts';
import type { ApiDeps } from './context.ts';
import { missingRun } from './missing-run.ts';
import { HOST_RUN_URL, RUN_URL, RunParams } from './runs.ts';
import { unknownConfigurable } from './unknown-names.ts';

const FORK = {
  summary: 'Fork a run: replay its record, or branch into a new run',
  params: RunParams,
  body: ForkRunRequest,
  response: { 201: ForkRunResponse },
};

const REPAIR = {
  summary: 'Continue a failed run in a new run, from the node that failed, with the current definition',
  params: RunParams,
  response: { 201: ForkRunResponse },
};

const invalid = (field: string, problem: string): OpenwopError =>
  new OpenwopError('validation_error', {
    message: `${field} ${problem}.`,
    details: { fields: [{ field, problem }] },
  });

/** Checks that the schema of the body cannot express. */
function fromSeqOf({ mode, fromSeq, runOptionsOverlay = {} }: ForkRunRequest): number {
  if (mode === 'branch') {
    if (fromSeq === undefined) throw invalid('body/fromSeq', 'is needed for a branch');
    return fromSeq;
  }
  if (Object.keys(runOptionsOverlay).length > 0)
    throw invalid(
      'body/runOptionsOverlay',
      'applies to branches only: a replay keeps the options of its source',
    );
  return fromSeq ?? 0;
}

type Overlay = Omit<ForkRequest['changes'], 'owner'>;

function overlayOf(source: ReadRun, { runOptionsOverlay }: ForkRunRequest): Overlay {
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

/** Whoever asks for the new run owns it, whoever owns its source. */
type Acting = Required<Pick<ForkRequest['changes'], 'owner' | 'traceparent'>>;

function actingOf(request: unknown): Acting {
  return { owner: runOwnerOf(callerOf(request)), traceparent: traceparentOf(request) };
}

function forkedBody({ plan, run }: PreparedRun): string {
  const { runId, fork } = run.facts;
  const status = statusOf(plan, run);
  return JSON.stringify({ runId, ...fork, status, eventsUrl: `/v1/runs/${runId}/events` });
}

export function forkRoute(app: Api, deps: ApiDeps, idempotency: Idempotency): void {
  const { runtime, store, now, randomBytes, redactions } = deps;
  const forks = createForks({ runs: store.runs, now, randomBytes, redactions });

  async function fork(
    key: RunKey,
    body: ForkRunRequest,
    by: Acting,
    record: RecordAnswer | undefined,
    tell: (warnings: readonly string[]) => void,
  ): Promise<Answer | 'duplicate'> {
    const fromSeq = fromSeqOf(body);
    const source = await runtime.read(key);
    if (source === null) throw missingRun(deps, key.runId, { sourceRunId: key.runId, fromSeq });
    const overlay = body.runOptionsOverlay?.configurable ?? {};
    tell(unknownConfigurable(source.plan, overlay, source.run.facts.configurable));
    const changes = { ...overlayOf(source, body), ...by };
    return adopted(await forks.prepare(source, { mode: body.mode, fromSeq, changes }), record);
  }

  async function adopted(
    prepared: PreparedRun,
    record: RecordAnswer | undefined,
  ): Promise<Answer | 'duplicate'> {
    const answer = forkedBody(prepared);
    const result = await runtime.adopt(prepared, record && { idempotency: () => record(201, answer) });
    if (result.kind === 'duplicate') return 'duplicate';
    return { status: 201, body: answer, recorded: record !== undefined };
  }

  async function repair(
    key: RunKey,
    by: Acting,
    record: RecordAnswer | undefined,
  ): Promise<Answer | 'duplicate'> {
    const source = await runtime.read(key);
    if (source === null) throw missingRun(deps, key.runId);
    if (source.run.status !== 'failed')
      throw new OpenwopError('conflict', {
        message: `The run is ${source.run.status}; only failed runs are repaired.`,
      });
    const { workflowId } = source.run.facts;
    const current = await deps.workflows.resolve(key.tenant, workflowId);
    if (current === null)
      throw new OpenwopError('not_found', { message: `The workflow ${workflowId} was deleted.` });
    const {
      plan,
      record: { hash },
    } = current;
    return adopted(await forks.repair(source, { plan, hash }, by), record);
  }

  app.post(`${HOST_RUN_URL}::repair`, { schema: REPAIR }, (request, reply) => {
    const { runId } = request.params;
    const key = { tenant: callerOf(request).tenant, runId };
    return idempotency.answer(request, reply, `POST /v1/host/gantry/runs/${runId}:repair`, (record) =>
      repair(key, actingOf(request), record),
    );
  });

  app.post(`${RUN_URL}::fork`, { schema: FORK }, (request, reply) => {
    const { runId } = request.params;
    const key = { tenant: callerOf(request).tenant, runId };
    return idempotency.answer(request, reply, `POST /v1/runs/${runId}:fork`, (record) =>
      fork(key, request.body, actingOf(request), record, (warnings) => warn(reply, warnings)),
    );
  });
}
