/** The operator's policies for the use of providers by tenants. A denial names the reason, never the policy. */
import { matchesPattern, OpenwopError } from '@gantry/protocol';
import type { ProviderPolicy } from './config.ts';

export type PolicyReason =
  | 'provider_disabled'
  | 'byok_required'
  | 'byok_required_but_unresolved'
  | 'model_not_allowed';

/** The narrowest rule: one for the tenant, else one for all. Without a rule, everything is allowed. */
export function policyFor(
  policies: readonly ProviderPolicy[],
  tenant: string,
  provider: string,
): ProviderPolicy | undefined {
  const ofProvider = policies.filter((policy) => policy.provider === provider);
  return (
    ofProvider.find((policy) => policy.tenant === tenant) ??
    ofProvider.find((policy) => policy.tenant === undefined)
  );
}

export interface PolicyFacts {
  readonly model: string;
  /** Whether the key is the tenant's own, the operator's, or missing. */
  readonly key: 'own' | 'operator' | 'none';
}

export function denialBy(
  policy: ProviderPolicy | undefined,
  { model, key }: PolicyFacts,
): PolicyReason | undefined {
  switch (policy?.mode) {
    case 'disabled':
      return 'provider_disabled';
    case 'required':
      if (key === 'own') return undefined;
      return key === 'none' ? 'byok_required_but_unresolved' : 'byok_required';
    case 'restricted':
      // Without a list nothing is allowed
      return policy.allowedModels?.some((pattern) => matchesPattern(pattern, model))
        ? undefined
        : 'model_not_allowed';
    default:
      return undefined;
  }
}

const NEXT: Record<PolicyReason, string> = {
  provider_disabled: 'Use another provider, or ask the operator.',
  byok_required: 'Add a key of your own with `gantry credentials add`.',
  byok_required_but_unresolved: 'Add a key of your own with `gantry credentials add`.',
  model_not_allowed: 'Use another model, or ask the operator.',
};

export const policyDenied = (provider: string, reason: PolicyReason): OpenwopError =>
  new OpenwopError('provider_policy_denied', {
    message: `A policy of the operator does not allow this call of ${provider} (${reason}). ${NEXT[reason]}`,
    details: { provider, reason },
  });
