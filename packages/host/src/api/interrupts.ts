/** Open interrupts of runs: reading and resolving them with a key. */

import {
  firstInterrupt,
  hasTimedOut,
  type Interrupt,
  type Refusal,
  type Resolver,
  type Run,
} from '@gantry/engine';
import {
  type Answer,
  type Api,
  type Caller,
  callerOf,
  type Idempotency,
  type RecordAnswer,
  readPayload,
} from '@gantry/http';
import {
  closedObject,
  given,
  invalid,
  isErrorCode,
  isoTime,
  type Json,
  misfit,
  type OpenInterrupt,
  OpenInterrupt as OpenInterruptSchema,
  OpenInterrupts,
  OpenwopError,
  ResolveInterruptRequest,
  ResolveInterruptResponse,
  type RunStatus,
} from '@gantry/protocol';
import type { RunKey } from '@gantry/store';
import Type from 'typebox';
import { linkUrl } from '../interrupts/approval-links.ts';
import type { InterruptTokens } from '../interrupts/interrupt-token.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { type CommandTerms, commanded } from './command-record.ts';
import type { ApiDeps } from './context.ts';
import { RUN_URL } from './runs.ts';

export const RESPOND_SCOPE = 'approvals:respond';

export const NodeParams = Type.Object({
  runId: Type.String({ minLength: 1, maxLength: 128 }),
  nodeId: Type.String({ minLength: 1 }),
});
const ListQuery = closedObject({
  before: Type.Optional(Type.String({ maxLength: 128 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
});
const LIST_DEFAULT = 50;
const WAITING: readonly RunStatus[] = ['waiting-approval', 'waiting-input', 'waiting-external'];

/** The protocol's `{ resumeValue }`, or the bare answer, as other clients send approvals. */
export const AnswerBody = Type.Record(Type.String(), Type.Unknown());

/** Checked here and not by the route: an invalid token must be reported first. */
export function resumeValueIn(body: Record<string, unknown>): Json {
  if (!('resumeValue' in body) && 'action' in body) return body as Json;
  const problem = misfit(ResolveInterruptRequest, body);
  if (problem)
    throw invalid(
      `${problem.path || '/'} ${problem.message}. Send { "resumeValue": … }, or an object with \`action\`.`,
      { path: problem.path },
    );
  return body.resumeValue as Json;
}

export function interruptRoutes(app: Api, deps: ApiDeps, idempotency: Idempotency): void {
  runScopedRoutes(app, deps, idempotency);
  listRoute(app, deps);
}

function runScopedRoutes(app: Api, deps: ApiDeps, idempotency: Idempotency): void {
  const { runtime } = deps;
  const schema = {
    summary: 'Resolve the open interrupt of a node',
    params: NodeParams,
    body: AnswerBody,
    response: { 200: ResolveInterruptResponse },
  };
  const statusIfCancelled = { interrupts: 422, approvals: 409 } as const;
  for (const name of ['interrupts', 'approvals'] as const) {
    app.post(`${RUN_URL}/${name}/:nodeId`, { schema }, (request, reply) => {
      const { runId, nodeId } = request.params;
      const caller = callerOf(request);
      const key = { tenant: caller.tenant, runId };
      const resolution = {
        key,
        nodeId,
        resumeValue: resumeValueIn(request.body),
        by: resolverOf(caller),
        ifCancelled: statusIfCancelled[name],
      };
      const operation = `POST /v1/runs/${runId}/interrupts/${nodeId}`;
      return idempotency.answer(request, reply, operation, (record) => resolve(deps, resolution, record));
    });
  }

  app.get(
    `${RUN_URL}/interrupts/:nodeId`,
    {
      schema: {
        summary: 'Read the open interrupt of a node',
        params: NodeParams,
        response: { 200: OpenInterruptSchema },
      },
    },
    async (request, reply) => {
      const { runId, nodeId } = request.params;
      const { run, interrupt } = await openInterrupt(runtime, {
        tenant: callerOf(request).tenant,
        runId,
        nodeId,
      });
      return readPayload(request, reply, JSON.stringify(view(run, nodeId, interrupt)));
    },
  );
}

export interface Resolution {
  readonly key: RunKey;
  readonly nodeId: string;
  readonly interruptId?: string;
  readonly resumeValue: Json;
  readonly by: Resolver;
  /** The status for a cancelled run: the protocol defines one for its own route, another for all others. */
  readonly ifCancelled: 409 | 422;
}

export function resolve(
  deps: Pick<ApiDeps, 'runtime' | 'now'>,
  { key, ifCancelled, ...resolution }: Resolution,
  record: RecordAnswer | undefined,
): Promise<Answer | 'duplicate'> {
  const answer = { type: 'resolved', nodeId: resolution.nodeId } as const;
  const terms: CommandTerms = {
    answer,
    status: 200,
    missing: () => new OpenwopError('interrupt_not_found'),
    refused({ refusal }) {
      // This vote was counted before: nothing changed, and this is no error.
      if (!refusal) return { ...answer, changed: false };
      if (refusal.code === 'interrupt_cancelled' && ifCancelled === 409)
        throw new OpenwopError('interrupt_already_resolved', { message: refusal.message });
      throw refusalError(refusal);
    },
  };
  return commanded(deps, key, { type: 'resolve', ...resolution }, terms, record);
}

/** Converts a refusal of the engine to an HTTP error. */
export function refusalError({ code, message, details }: Refusal): OpenwopError {
  if (!isErrorCode(code)) throw new Error(`the engine refused with ${code}, which is not in the catalogue`);
  return new OpenwopError(code, { message, ...(details && { details }) });
}

const namedIn = (scopes: ReadonlySet<string>, prefix: 'role:' | 'group:'): string[] =>
  [...scopes].flatMap((scope) => (scope.startsWith(prefix) ? [scope.slice(prefix.length)] : []));

export const resolverOf = ({ principal, scopes }: Caller): Resolver => ({
  principal,
  roles: namedIn(scopes, 'role:'),
  groups: namedIn(scopes, 'group:'),
  scopes: [...scopes],
  authenticated: true,
});

export async function openInterrupt(
  runtime: Runtime,
  { tenant, runId, nodeId, interruptId }: RunKey & { nodeId: string; interruptId?: string },
): Promise<{ run: Run; interrupt: Interrupt }> {
  const read = await runtime.read({ tenant, runId });
  const interrupt = read?.run.interrupts.get(nodeId);
  if (read && interrupt && (interruptId === undefined || interrupt.interruptId === interruptId))
    return { run: read.run, interrupt };
  const asked = (read?.run.asked.get(nodeId) ?? 0) > 0;
  if (read && asked && hasTimedOut(read.run, nodeId)) throw new OpenwopError('interrupt_expired');
  throw new OpenwopError(asked ? 'interrupt_already_resolved' : 'interrupt_not_found');
}

export function view({ facts }: Run, nodeId: string, interrupt: Interrupt): OpenInterrupt {
  const { interruptId, kind, key, data, resumeSchema, requestedAt, expiresAt, votes } = interrupt;
  return {
    runId: facts.runId,
    workflowId: facts.workflowId,
    nodeId,
    interruptId,
    kind,
    key,
    data,
    ...(resumeSchema && { resumeSchema }),
    requestedAt: isoTime(requestedAt),
    ...(expiresAt !== undefined && { deadline: isoTime(expiresAt) }),
    ...(votes.length > 0 && {
      votes: votes.map(({ voter, approve, comment }) => given({ voter, approve, comment })),
    }),
  };
}

/** The longest open interrupt, as shown in a snapshot. A caller who may respond gets a token for it. */
export function interruptOf(run: Run, caller: Caller, tokens: InterruptTokens, origin: string) {
  const first = firstInterrupt(run);
  if (!first || run.status !== 'running') return {};
  const intent = caller.scopes.has(RESPOND_SCOPE) ? 'resolve' : 'inspect';
  const key = { tenant: caller.tenant, runId: run.facts.runId };
  const interruptToken = tokens.issue({ key, ...first, intent });
  const callbackUrl = linkUrl(origin, interruptToken);
  return {
    interrupt: { ...view(run, first.nodeId, first.interrupt), intent, interruptToken, callbackUrl },
  };
}

/** The inbox of a tenant: the open interrupts of its runs, newest runs first. */
function listRoute(app: Api, { runtime, store }: ApiDeps): void {
  app.get(
    '/v1/host/gantry/interrupts',
    {
      schema: {
        summary: 'List open interrupts, those of the newest runs first',
        querystring: ListQuery,
        response: { 200: OpenInterrupts },
      },
    },
    async (request, reply) => {
      const { tenant } = callerOf(request);
      const { before, limit = LIST_DEFAULT } = request.query;
      const filter = { limit: limit + 1, ...(before !== undefined && { beforeRunId: before }) };
      const lists = await Promise.all(
        WAITING.map((status) => store.runs.list(tenant, { ...filter, status })),
      );
      const rows = lists.flat().sort((left, right) => (left.runId < right.runId ? 1 : -1));
      const page = rows.slice(0, limit);
      const reads = await Promise.all(page.map(({ runId }) => runtime.read({ tenant, runId })));
      const interrupts = reads.flatMap((read) =>
        read ? [...read.run.interrupts].map(([nodeId, interrupt]) => view(read.run, nodeId, interrupt)) : [],
      );
      const next = rows.length > limit ? { nextBefore: page.at(-1)!.runId } : {};
      return readPayload(request, reply, JSON.stringify({ interrupts, ...next }));
    },
  );
}
