/** Time limits of a run are facts of its log: a replay neither breaks them anew nor escapes them. */
import type { Plan } from '../plan.ts';
import type { RunFacts } from '../run.ts';

export function timelessPlan({ timeoutMs: _limit, ...plan }: Plan): Plan {
  return plan;
}

/** What the run was started with, as far as deciding asks for it: what its parent left unset stays so. */
export function timelessFacts(facts: RunFacts, { parent }: RunFacts): RunFacts {
  const { runTimeoutMs: _limit, ...configurable } = facts.configurable;
  const limits = { ...facts.limits, maxRunDurationMs: Number.POSITIVE_INFINITY };
  return { ...facts, configurable, limits, ...(parent && { parent }) };
}
