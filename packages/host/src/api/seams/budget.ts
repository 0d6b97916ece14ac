/** Runs that exhaust their budget. */
import type { Api } from '@gantry/http';
import type { JsonObject } from '@gantry/protocol';
import Type from 'typebox';
import { definition, edge, node, seamId } from './definition.ts';
import type { Drive } from './drive.ts';
import { seam } from './seam.ts';

const Scenario = Type.Object({ scenario: Type.Enum(['hard-cost-exhaust', 'model-denied', 'advisory']) });

const ask = { config: { provider: 'scripted', prompt: 'Hello', maxTokens: 300 } };
const asking = definition(
  seamId('budget'),
  [1, 2, 3].map((n) => node(`ask${n}`, 'core.ai.callPrompt', ask)),
  { edges: [edge('ask1', 'ask2'), edge('ask2', 'ask3')] },
);
/** Two such calls fit into half a cent, three do not. */
const ai = {
  price: { input: 10, output: 10 },
  script: [{ text: 'Hello', usage: { inputTokens: 20, outputTokens: 180 } }],
};
const LIMITED: JsonObject = { maxCostUsd: 0.005, thresholdPercent: 50 };

export function budgetSeam(app: Api, drive: Drive): void {
  seam(app, 'budget/run', Scenario, async (caller, { scenario }) => {
    const budget = scenario === 'model-denied' ? { modelDeny: ['echo'], modelAllow: ['*'] } : LIMITED;
    const more = scenario === 'advisory' ? { advisoryBudget: true as const } : {};
    const key = await drive.start(caller, [asking], {}, { ai, budget }, more);
    const { snapshot } = await drive.atRest(key);
    const { status, error } = snapshot;
    const isCalled = (await drive.events(key)).some(({ type }) => type === 'provider.usage');
    return { runId: key.runId, outcome: status, ...(error && { error: error.code }), modelCalled: isCalled };
  });
}
