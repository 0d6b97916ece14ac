/** What models were used for, and what it cost. */
import { rootRunId } from '@gantry/engine';
import { type Api, callerOf } from '@gantry/http';
import { ModelUsage, OpenwopError, optional, RunUsage } from '@gantry/protocol';
import Type from 'typebox';
import type { Ai } from '../ai/ai.ts';
import { dayOf, NANO_USD } from '../ai/ledger.ts';
import type { ApiDeps } from './context.ts';
import { readLog } from './events.ts';
import { RunParams } from './runs.ts';

const DAYS_MAX = 400;
const DAY_MS = 86_400_000;
const Query = Type.Object({ days: optional(Type.Integer({ minimum: 1, maximum: DAYS_MAX })) });

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
      const { tokens, cost } = await ledger.ofRun(key.tenant, rootRunId(read.run.facts));
      const held = await ledger.held(key.tenant, runId);
      return {
        runId,
        tokens,
        costUsd: cost / NANO_USD,
        calls: await callsOf(store, key),
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

async function callsOf(
  store: ApiDeps['store'],
  key: { readonly tenant: string; readonly runId: string },
): Promise<RunUsage['calls']> {
  const log = await readLog(store, key, 0);
  return (log?.events ?? [])
    .filter(({ type }) => type === 'provider.usage')
    .map(({ payload, nodeId }) => {
      const { provider, model, inputTokens, outputTokens, costEstimateUsd } = JSON.parse(payload);
      const about = { provider, model, inputTokens, outputTokens };
      return {
        ...about,
        ...(nodeId !== null && { nodeId }),
        ...(costEstimateUsd !== undefined && { costUsd: costEstimateUsd }),
      };
    });
}
