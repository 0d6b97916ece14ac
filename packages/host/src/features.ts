/** The features of this host, in the order in which they open. A new one is a folder and a line here. */
import type { EgressByPurpose } from '@gantry/egress';
import type { RunLimits } from '@gantry/engine';
import type { Turns } from '@gantry/limiter';
import type { CommitPipeline } from '@gantry/store';
import {
  aiFeature,
  conformanceFeature,
  coreAiFeature,
  envelopesFeature,
  providersFeature,
} from './ai/feature.ts';
import type { FamilyFacts } from './api/families.ts';
import { artifactsFeature, workingCopiesFeature } from './artifacts/feature.ts';
import { sessionsFeature } from './console/sessions.ts';
import { credentialsFeature } from './credentials/feature.ts';
import { deadLettersFeature } from './dead-letters/feature.ts';
import type { AnyKind, Offers, Order, ServicesOf } from './feature.ts';
import { heartbeatsFeature } from './heartbeats/feature.ts';
import { interruptTokensFeature } from './interrupts/feature.ts';
import type { KeyRing } from './master-key.ts';
import { messagingFeature } from './messaging/feature.ts';
import { oauthFeature } from './oauth/feature.ts';
import { packRecordsFeature, packsFeature } from './packs/feature.ts';
import type { Parts } from './parts.ts';
import type { ScopesOf } from './principals.ts';
import { promptsFeature } from './prompts/feature.ts';
import { givenFeature } from './redaction/feature.ts';
import { rekeyFeature } from './rekey.ts';
import type { LeaseTerms } from './runtime/claims.ts';
import { runtimeFeature } from './runtime/feature.ts';
import { schedulesFeature } from './schedules/feature.ts';
import type { Settings } from './settings.ts';
import type { StoreHealth } from './store-health.ts';
import { surfacesFeature } from './surfaces/feature.ts';
import type { PublicAddress } from './surfaces/public-address.ts';
import { triggerOutboxFeature, triggersFeature } from './triggers/feature.ts';
import { webhooksFeature } from './webhooks/feature.ts';
import { workflowsFeature } from './workflows/feature.ts';

/** What is there before all features. */
export interface HostParts extends Omit<Parts, 'clock'> {
  readonly settings: Settings;
  readonly masterKey: KeyRing;
  readonly pipeline: CommitPipeline;
  readonly egress: EgressByPurpose;
  readonly turns: Turns;
  readonly health: StoreHealth;
  readonly address: PublicAddress;
  /** Known once the host listens, unless the settings name it. */
  readonly publicUrl: () => string;
  readonly scopesOf: ScopesOf;
  /** As long as ended runs are kept. */
  readonly retentionMs: number;
  readonly limits: RunLimits;
  readonly lease: LeaseTerms;
  readonly onLeaseLost: () => void;
  /** Facts about the host for discovery. */
  readonly facts: FamilyFacts;
}

interface Given extends HostParts {
  readonly offers: Offers;
  readonly kinds: readonly AnyKind[];
}

export const FEATURES = [
  rekeyFeature,
  givenFeature,
  packRecordsFeature,
  oauthFeature,
  credentialsFeature,
  conformanceFeature,
  providersFeature,
  aiFeature,
  envelopesFeature,
  promptsFeature,
  coreAiFeature,
  messagingFeature,
  interruptTokensFeature,
  webhooksFeature,
  surfacesFeature,
  packsFeature,
  workflowsFeature,
  triggerOutboxFeature,
  runtimeFeature,
  deadLettersFeature,
  triggersFeature,
  schedulesFeature,
  heartbeatsFeature,
  artifactsFeature,
  workingCopiesFeature,
  sessionsFeature,
] as const;

'in order' satisfies Order<typeof FEATURES, Given>;

export type Services = ServicesOf<typeof FEATURES>;
