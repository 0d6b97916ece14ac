/** The usage and cost of models. */
import { rootRunId } from '@gantry/engine';
import { type Api, callerOf } from '@gantry/http';
import { closedObject, ModelUsage, OpenwopError, optional, RunUsage } from '@gantry/protocol';
import Type from 'typebox';
import type { Ai } from '../ai/ai.ts';
import { dayOf, NANO_USD } from '../ai/ledger.ts';
import type { ApiDeps } from './context.ts';
import { readLog } from './events.ts';
import { RunParams } from './runs.ts';

const DAYS_MAX = 400;
const DAY_MS = 86_400_000;
/** The maximum number of listed calls of a run; the last ones are listed. */
const CALLS_MAX = 1_000;
/** A log is read in parts of this size. */
const PART_BYTES = 1_048_576;
const Query = closedObject({ days: optional(Type.Integer({ minimum: 1, maximum: DAYS_MAX })) });

export function usageRoutes(app: Api, deps: ApiDeps, { ledger }: Pick<Ai, 'ledger'>): void {
  const { runtime, store, now } = deps;
  app.get(
    '/v1/host/gantry/usage',
    {
      schema: {
        summary: 'What models were used for, by workflow',
        querystring: Query,
        response: { 200: ModelUsage },
      },
    },
    async (request) => {
      const { days = 30 } = request.query;
      const [from, to] = [dayOf(now() - (days - 1) * DAY_MS), dayOf(now())];
      return { from, to, ...(await ledger.usage(callerOf(request).tenant, from, to)) };
    },
  );
  app.get(
    '/v1/host/gantry/runs/:runId/usage',
    { schema: { summary: 'What a run used of models', params: RunParams, response: { 200: RunUsage } } },
    async (request) => {
      const { runId } = request.params;
      const key = { tenant: callerOf(request).tenant, runId };
      const read = await runtime.read(key);
      if (read === null) throw new OpenwopError('not_found');
      const root = rootRunId(read.run.facts);
      const { tokens, cost } = await ledger.ofRun(key.tenant, root);
      const calls = await callsOf(store, key);
      const held = await ledger.held(key.tenant, runId);
      return {
        runId,
        tokens: sum(calls, ({ inputTokens, outputTokens }) => inputTokens + outputTokens),
        costUsd: sum(calls, ({ costUsd = 0 }) => Math.round(costUsd * NANO_USD)) / NANO_USD,
        callCount: calls.length,
        family: { runId: root, tokens: Math.max(0, tokens), costUsd: Math.max(0, cost) / NANO_USD },
        calls: calls.slice(-CALLS_MAX),
        inDoubt: held.map(({ invocationId, nodeId, claimedAt, tokens: reserved, cost: price }) => ({
          invocationId,
          nodeId,
          since: new Date(claimedAt).toISOString(),
          tokens: reserved,
          costUsd: price / NANO_USD,
        })),
      };
    },
  );
}

const sum = <T>(all: readonly T[], of: (one: T) => number): number =>
  all.reduce((total, one) => total + of(one), 0);

async function callsOf(
  store: ApiDeps['store'],
  key: { readonly tenant: string; readonly runId: string },
): Promise<RunUsage['calls']> {
  const calls: RunUsage['calls'] = [];
  for (let from = 0; ; ) {
    const events = (await readLog(store, key, from, PART_BYTES))?.events ?? [];
    for (const { type, payload, nodeId } of events) {
      if (type !== 'provider.usage') continue;
      const { provider, model, inputTokens, outputTokens, costEstimateUsd } = JSON.parse(payload);
      calls.push({
        provider,
        model,
        inputTokens,
        outputTokens,
        ...(nodeId !== null && { nodeId }),
        ...(costEstimateUsd !== undefined && { costUsd: costEstimateUsd }),
      });
    }
    const last = events.at(-1);
    if (!last) return calls;
    from = last.sequence + 1;
  }
}
