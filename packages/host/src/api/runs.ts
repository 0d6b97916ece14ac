import { inheritedTrust, type Run, rootRunId } from '@gantry/engine';
import {
  type Answer,
  type Api,
  type Caller,
  callerOf,
  type Idempotency,
  liveTenant,
  notModified,
  type RecordAnswer,
  readPayload,
  traceparentOf,
  warn,
} from '@gantry/http';
import {
  CreateRunRequest,
  CreateRunResponse,
  checkRunOptions,
  isObject,
  isoTime,
  isTerminal,
  type JsonObject,
  OpenwopError,
  RunAgainRequest,
  RunSnapshot,
  RunStatus,
  RunSummary,
  runOwnerOf,
} from '@gantry/protocol';
import type { RunRow } from '@gantry/store';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { InterruptTokens } from '../interrupts/interrupt-token.ts';
import type { NewRun } from '../runtime/runtime.ts';
import { checkAdmission } from '../workflows/admission.ts';
import { childrenTag, childrenView } from './child-runs.ts';
import type { ApiDeps } from './context.ts';
import { interruptOf } from './interrupts.ts';
import { missingRun } from './missing-run.ts';
import { createScopeGuard } from './run-scope.ts';
import { unknownConfigurable, unknownInputs } from './unknown-names.ts';

/** Values of `configurable.mockProvider`, for the conformance suite. */
export const MOCK_PROVIDERS = ['stream-text'];

const LIST_DEFAULT = 50;
const LIST_MAX = 200;

/** The path of one run. Ids contain no colon: a verb follows it. */
export const RUN_URL = '/v1/runs/:runId(^[^:/]+)';
export const HOST_RUN_URL = '/v1/host/gantry/runs/:runId(^[^:/]+)';

export const RunParams = Type.Object({ runId: Type.String({ minLength: 1, maxLength: 128 }) });

const LIST_FILTERS = {
  status: Type.Optional(RunStatus),
  workflowId: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIST_MAX })),
};

/**
 * Concatenated by hand: ids and statuses need no escaping, and this is the most frequent answer of the host.
 * A short run may have ended in the commit that created it. The protocol does not permit that status here, so
 * it is reported as running.
 */
const createdBody = (runId: string, status: RunStatus): string =>
  `{"runId":"${runId}","status":"${isTerminal(status) ? 'running' : status}","eventsUrl":"/v1/runs/${runId}/events","statusUrl":"/v1/runs/${runId}"}`;

/** An evaluation names a suite instead of a workflow. Report that evaluations are not supported, not a schema error. */
function refusedBody(error: Error, body: unknown): Error {
  const isEvaluation = typeof body === 'object' && body !== null && 'mode' in body && body.mode === 'eval';
  if (!isEvaluation) return error;
  return new OpenwopError('capability_not_provided', { details: { capability: 'agents.evalSuite' } });
}

/** Checks that need no lookup. Their order is part of the API. */
function checkRequest(caller: Caller, body: CreateRunRequest): void {
  const { tenantId, callbackUrl } = body;
  if (tenantId !== undefined && tenantId !== caller.tenant && tenantId !== liveTenant(caller.tenant)) {
    throw new OpenwopError('run_forbidden', {
      message: 'This key belongs to another tenant than `tenantId` names. Use a key of that tenant.',
    });
  }
  if (callbackUrl !== undefined && !URL.canParse(callbackUrl)) {
    throw new OpenwopError('validation_error', { details: { key: 'callbackUrl', problem: 'is not a URL' } });
  }
}

async function toNewRun(
  deps: ApiDeps,
  caller: Caller,
  body: CreateRunRequest,
  traceparent: string,
): Promise<NewRun> {
  checkRequest(caller, body);
  const workflow = await deps.workflows.resolve(caller.tenant, body.workflowId);
  if (workflow === null) throw new OpenwopError('not_found', { message: 'There is no such workflow.' });
  if (body.residency !== undefined) {
    throw new OpenwopError('residency_unavailable', { details: { availableRegions: [] } });
  }
  checkRunOptions(body, { ids: MOCK_PROVIDERS, allowed: deps.seams });
  const configurable = (body.configurable ?? {}) as JsonObject;
  const inputs = (body.inputs ?? {}) as JsonObject;
  await checkAdmission(deps.workflows, caller.tenant, workflow, { inputs, configurable });
  return {
    owner: runOwnerOf(caller),
    workflow,
    ...(body.scopeId !== undefined && { scopeId: body.scopeId }),
    inputs,
    configurable,
    tags: body.tags ?? [],
    metadata: (body.metadata ?? {}) as JsonObject,
    traceparent,
  };
}

const summary = (row: RunRow): RunSummary => ({
  runId: row.runId,
  workflowId: row.workflowId,
  status: row.status,
  createdAt: isoTime(row.createdAt),
  ...(row.endedAt !== null && { endedAt: isoTime(row.endedAt) }),
});

export function runRoutes(app: Api, deps: ApiDeps, tokens: InterruptTokens, idempotency: Idempotency): void {
  const { runtime, store } = deps;
  const scopes = createScopeGuard(store.runs);
  listRoutes(app, deps);

  async function commit(run: NewRun, record: RecordAnswer | undefined): Promise<Answer | 'duplicate'> {
    const idempotency =
      record && ((created: Run) => record(201, createdBody(created.facts.runId, created.status)));
    const result = await runtime.create(run, idempotency && { idempotency });
    if (result.kind === 'duplicate') return 'duplicate';
    return { status: 201, body: createdBody(result.runId, result.run.status), recorded: true };
  }

  async function create(
    request: FastifyRequest & { body: CreateRunRequest },
    reply: FastifyReply,
    record: RecordAnswer | undefined,
  ): Promise<Answer | 'duplicate'> {
    const run = await toNewRun(deps, callerOf(request), request.body, traceparentOf(request));
    const { plan } = run.workflow;
    warn(reply, [...unknownInputs(plan, run.inputs), ...unknownConfigurable(plan, run.configurable)]);
    if (request.headers['x-dedup'] !== 'enforce') return await commit(run, record);
    return await scopes.onlyOne(run.owner.tenant, run.scopeId, () => commit(run, record));
  }

  app.post(
    '/v1/runs',
    {
      attachValidation: true,
      schema: { summary: 'Start a run', body: CreateRunRequest, response: { 201: CreateRunResponse } },
    },
    (request, reply) => {
      if (request.validationError) throw refusedBody(request.validationError, request.body);
      return idempotency.answer(request, reply, 'POST /v1/runs', (record) => create(request, reply, record));
    },
  );

  againRoute(app, deps, idempotency, commit);

  app.get(
    RUN_URL,
    { schema: { summary: 'Read a run', params: RunParams, response: { 200: RunSnapshot } } },
    async (request, reply) => {
      const { runId } = request.params;
      const caller = callerOf(request);
      const read = await runtime.read({ tenant: caller.tenant, runId });
      if (read === null) throw missingRun(deps, runId);
      const children = await childrenView(store.runs, read.plan, read.run);
      if (notModified(request, reply, `"${runId}-${read.run.nextSeq}${childrenTag(children)}"`)) return '';
      const body = {
        ...read.snapshot,
        ...children,
        ...interruptOf(read.run, caller, tokens, deps.originOf(request)),
      };
      return readPayload(request, reply, JSON.stringify(body), { always: true });
    },
  );
}

const AGAIN = {
  summary: 'Run the workflow of a run again, with its inputs and those given here',
  params: RunParams,
  body: RunAgainRequest,
  response: { 201: CreateRunResponse },
};

function againRoute(app: Api, deps: ApiDeps, idempotency: Idempotency, commit: CommitRun): void {
  app.post(`${HOST_RUN_URL}::again`, { schema: AGAIN }, (request, reply) => {
    const { runId } = request.params;
    const caller = callerOf(request);
    return idempotency.answer(request, reply, `POST /v1/host/gantry/runs/${runId}:again`, async (record) => {
      const source = await deps.runtime.read({ tenant: caller.tenant, runId });
      if (source === null) throw missingRun(deps, runId);
      const { workflowId, inputs, configurable, tags, metadata } = source.run.facts;
      const changes = (request.body.configurable ?? {}) as JsonObject;
      const body = {
        workflowId,
        inputs: { ...inputs, ...request.body.inputs },
        configurable: overlaid(configurable, changes),
        tags: [...tags],
        metadata,
      };
      const run = await toNewRun(deps, caller, body, traceparentOf(request));
      const { plan } = run.workflow;
      warn(reply, [
        ...unknownInputs(plan, request.body.inputs ?? {}),
        ...unknownConfigurable(plan, changes, configurable),
      ]);
      const inherited = { ...inheritedTrust(source.run), rootRunId: rootRunId(source.run.facts) };
      return commit({ ...run, ...inherited }, record);
    });
  });
}

/** Objects are merged by member, so that one value of `ai` or `budget` can be changed. */
function overlaid(options: JsonObject, changes: JsonObject): JsonObject {
  const merged = { ...options };
  for (const [name, value] of Object.entries(changes)) {
    const before = Object.hasOwn(options, name) ? options[name] : undefined;
    merged[name] = isObject(before) && isObject(value) ? overlaid(before, value) : value;
  }
  return merged;
}

type CommitRun = (run: NewRun, record: RecordAnswer | undefined) => Promise<Answer | 'duplicate'>;

/** The host's own list, and the one that other clients expect: the same, with another name for the cursor. */
function listRoutes(app: Api, { store }: ApiDeps): void {
  for (const [url, from, next] of [
    ['/v1/host/gantry/runs', 'before', 'nextBefore'],
    ['/v1/runs', 'cursor', 'nextCursor'],
  ] as const)
    app.get(
      url,
      {
        schema: {
          summary: 'List runs, newest first',
          querystring: Type.Object(
            { ...LIST_FILTERS, [from]: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })) },
            { additionalProperties: false },
          ),
          response: {
            200: Type.Object({ runs: Type.Array(RunSummary), [next]: Type.Optional(Type.String()) }),
          },
        },
      },
      async (request, reply) => {
        const { status, workflowId, limit = LIST_DEFAULT } = request.query;
        const before = (request.query as Record<string, string | undefined>)[from];
        const rows = await store.runs.list(callerOf(request).tenant, {
          ...(status !== undefined && { status }),
          ...(workflowId !== undefined && { workflowId }),
          ...(before !== undefined && { beforeRunId: before }),
          limit: limit + 1,
        });
        const page = rows.slice(0, limit);
        const more = rows.length > limit ? { [next]: page.at(-1)!.runId } : {};
        return readPayload(request, reply, JSON.stringify({ runs: page.map(summary), ...more }));
      },
    );
}
