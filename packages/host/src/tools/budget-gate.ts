/** `maxToolCalls`: calls of tools of a whole family of runs, counted with their claims. */
import { OpenwopError } from '@gantry/protocol';
import type { Store } from '@gantry/store';
import { countingOne, runCounter } from '../ai/ledger.ts';
import type { GatedCall, ToolHook } from './hook.ts';

const DIMENSION = 'toolCalls';

const limitOf = ({ run }: GatedCall): number | undefined => run?.budget()?.limits[DIMENSION];

export const budgetGate = ({ entries }: Pick<Store, 'entries'>): ToolHook => ({
  reserve(call) {
    const { tenant, run } = call;
    const limit = limitOf(call);
    if (!run || limit === undefined) return [];
    return [countingOne(tenant, run.rootRunId, DIMENSION, run.budget()?.advisory ? undefined : limit)];
  },
  async told(call) {
    const { tenant, run } = call;
    const limit = limitOf(call);
    if (!run || limit === undefined) return [];
    // The record of the call matters more than what it tells
    const consumed = await entries.counter(runCounter(tenant, run.rootRunId, DIMENSION)).catch(() => null);
    if (consumed === null) return [];
    const payload = { dimension: DIMENSION, consumed, limit, remaining: Math.max(0, limit - consumed) };
    return [{ type: 'budget.consumed', payload }];
  },
  /** The code hears of it and can do nothing about it: the run ends, or waits for a person. */
  full(call) {
    const limit = limitOf(call) ?? 0;
    call.run?.exhausted({ dimension: DIMENSION, limit, observed: limit + 1 });
    throw new OpenwopError('budget_exhausted');
  },
});
