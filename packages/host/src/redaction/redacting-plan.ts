import type { Plan } from '@gantry/engine';
import type { Redactions } from './redactions.ts';

/** The plan for one decision: with the secrets that the tenant has opened by now. */
export type Redacting = (plan: Plan, tenant: string) => Plan;

export const redactingPlans =
  (redactions: Redactions): Redacting =>
  (plan, tenant) => {
    // A run that stays in memory for long hears of new values too: by the decision after this one.
    void redactions.ready(tenant)?.catch(() => {});
    const redactor = redactions.of(tenant);
    return redactor.isEmpty ? plan : { ...plan, redact: (value) => redactor.redactJson(value) };
  };
