/** The budget of a run, as applied to model calls. */
import type { EmittedEvent } from '@gantry/engine';
import { matchesPattern, OpenwopError } from '@gantry/protocol';
import type { BudgetStop, CallingRun } from '@gantry/surfaces';
import { type Amounts, DIMENSIONS, type Dimension, type Limits, NANO_USD } from './ledger.ts';
import type { ChosenModel } from './model-source.ts';
import type { BudgetExhausted, CallBudget } from './planned-call.ts';

const DAY_SETTINGS = {
  tokens: 'GANTRY_BUDGET_TOKENS_PER_DAY',
  cost: 'GANTRY_BUDGET_COST_USD_PER_DAY',
} as const;

/** The ledger counts billionths of a dollar; events and messages use dollars. */
const shown = (dimension: Dimension, amount: number): number =>
  dimension === 'cost' ? amount / NANO_USD : amount;

export function stopOf({ about }: BudgetExhausted): BudgetStop {
  const { dimension, scope } = about;
  const amount = (value: number): number => shown(dimension, value);
  const [limit, needed] = [amount(about.limit), amount(about.needed)];
  const available = amount(Math.max(0, about.limit - about.spent));
  const unit = dimension === 'cost' ? 'US dollars' : 'tokens';
  return {
    dimension,
    limit,
    observed: amount(about.spent + about.reserved),
    short: { needed, available },
    ...(scope === 'project' && {
      message: `The call needs at least ${needed} ${unit}, and the workspace has ${available} left of today's ${limit}. Try again tomorrow (UTC), or let the operator raise ${DAY_SETTINGS[dimension]}.`,
    }),
  };
}

function limitsOf(run: CallingRun): Limits {
  const budget = run.budget();
  const { tokens, cost } = budget?.limits ?? {};
  return {
    ...(tokens !== undefined && { tokens }),
    ...(cost !== undefined && { cost: Math.round(cost * NANO_USD) }),
  };
}

export const callBudget = (run: CallingRun, project: Limits): CallBudget => ({
  ceilings: async () => (run.budget()?.advisory ? { run: {}, project: {} } : { run: limitsOf(run), project }),
  consumed(total: Amounts): EmittedEvent[] {
    const limits = limitsOf(run);
    return DIMENSIONS.flatMap((dimension): EmittedEvent[] => {
      const limit = limits[dimension];
      if (limit === undefined) return [];
      const [consumed, bound] = [shown(dimension, Math.max(0, total[dimension])), shown(dimension, limit)];
      const payload = { dimension, consumed, limit: bound, remaining: Math.max(0, bound - consumed) };
      return [{ type: 'budget.consumed', payload }];
    });
  },
});

/** Refuses models that the budget denies, and unknown prices under a cost limit, before anything is reserved. */
export function checkModel(run: CallingRun, project: Limits, { provider, model, price }: ChosenModel): void {
  const { modelAllow, modelDeny = [], advisory } = run.budget() ?? {};
  const isMeant = (pattern: string): boolean =>
    matchesPattern(pattern, model) || matchesPattern(pattern, `${provider}/${model}`);
  if (modelDeny.some(isMeant) || (modelAllow && !modelAllow.some(isMeant)))
    throw new OpenwopError('budget_model_denied', {
      message: `The budget of the run does not allow ${provider}/${model}. Use another model, or change modelAllow and modelDeny.`,
      details: { provider, model },
    });
  const isLimited = !advisory && (limitsOf(run).cost !== undefined || project.cost !== undefined);
  if (price === null && isLimited)
    throw new OpenwopError('budget_model_denied', {
      message: `The price of ${provider}/${model} is not known, so a limit of cost cannot be held. Add it to "prices" in the file that GANTRY_AI names, or limit tokens instead.`,
      details: { provider, model, setting: 'GANTRY_AI' },
    });
}
