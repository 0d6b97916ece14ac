/** Checks whether a model has the capabilities that a node needs, and chooses a fallback if not. */
import type { EmittedEvent } from '@gantry/protocol';

export interface ModelName {
  readonly provider: string;
  readonly model: string;
}

export interface Requirements {
  readonly requiredModelCapabilities?: readonly string[];
  readonly fallbackModel?: ModelName;
}

export interface GateFacts {
  readonly nodeId: string;
  readonly active: ModelName;
  readonly substitutionSupported: boolean;
  capabilitiesOf(model: ModelName): readonly string[];
  /** Whether the host supports the provider and has a credential for it. */
  canUse(provider: string): boolean;
}

export type GateOutcome =
  | { readonly route: 'dispatch'; readonly model: ModelName; readonly event: null }
  | { readonly route: 'substitute'; readonly model: ModelName; readonly event: EmittedEvent }
  | {
      readonly route: 'refuse';
      readonly missingCapabilities: readonly string[];
      readonly fallbackAttempted: boolean;
      readonly event: EmittedEvent;
    };

/** At most one substitution: if the fallback lacks something too, the call is refused. */
export function modelGate(needs: Requirements, facts: GateFacts): GateOutcome {
  const { requiredModelCapabilities: required = [], fallbackModel } = needs;
  const { nodeId, active, substitutionSupported } = facts;
  const missingFrom = (model: ModelName): string[] => {
    const has = facts.capabilitiesOf(model);
    return required.filter((each) => !has.includes(each));
  };
  const missingCapabilities = missingFrom(active);
  if (missingCapabilities.length === 0) return { route: 'dispatch', model: active, event: null };
  const fallback = substitutionSupported ? fallbackModel : undefined;
  if (fallback && facts.canUse(fallback.provider) && missingFrom(fallback).length === 0) {
    const payload = {
      nodeId,
      originalProvider: active.provider,
      originalModel: active.model,
      fallbackProvider: fallback.provider,
      fallbackModel: fallback.model,
      missingCapabilities,
    };
    return { route: 'substitute', model: fallback, event: { type: 'model.capability.substituted', payload } };
  }
  const fallbackAttempted = fallback !== undefined;
  const payload = { nodeId, ...active, missingCapabilities, fallbackAttempted };
  const event: EmittedEvent = { type: 'model.capability.insufficient', payload };
  return { route: 'refuse', missingCapabilities, fallbackAttempted, event };
}
