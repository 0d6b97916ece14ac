/** The features of this host, in the order in which they open. A new one is a folder and a line here. */
import type { Ai } from './ai/ai.ts';
import { artifactsFeature, workingCopiesFeature } from './artifacts/feature.ts';
import { sessionsFeature } from './console/sessions.ts';
import type { Order, ServicesOf } from './feature.ts';
import { heartbeatsFeature } from './heartbeats/feature.ts';
import type { Parts } from './parts.ts';
import type { LocalRuntime } from './runtime/local-runtime.ts';
import { schedulesFeature } from './schedules/feature.ts';
import type { Webhooks } from './webhooks/webhooks.ts';
import type { WorkflowsWithPlans } from './workflows/workflows.ts';

/** What is there before all features. */
export interface FeatureParts extends Parts {
  readonly workflows: WorkflowsWithPlans;
  readonly webhooks: Webhooks;
  readonly ai: Ai;
  readonly runtime: LocalRuntime;
  /** As long as ended runs are kept. */
  readonly retentionMs: number;
}

export const FEATURES = [
  schedulesFeature,
  heartbeatsFeature,
  artifactsFeature,
  workingCopiesFeature,
  sessionsFeature,
] as const;

'in order' satisfies Order<typeof FEATURES, FeatureParts>;

export type FeatureServices = ServicesOf<typeof FEATURES>;
