import type { Plan } from '@gantry/engine';
import type { Redactions } from './redactions.ts';

/** The plan for one decision, with the secrets that the tenant has opened so far. */
export type Redacting = (plan: Plan, tenant: string) => Plan;

export const redactingPlans =
  (redactions: Redactions): Redacting =>
  (plan, tenant) => {
    // For a run that stays in memory for long: new values are loaded for the next decision.
    void redactions.ready(tenant)?.catch(() => {});
    const redactor = redactions.of(tenant);
    return redactor.isEmpty ? plan : { ...plan, redact: (value) => redactor.redactJson(value) };
  };
