import type { Store } from '@gantry/store';
import type { EnvelopesPort } from '@gantry/surfaces';
import type { Ai } from '../ai/ai.ts';
import { blobLinkRoutes } from '../api/blob-links.ts';
import { surfaceRoutes } from '../api/operator.ts';
import type { Credentials } from '../credentials/credentials.ts';
import { httpCredentials, secretsPort } from '../credentials/secrets-port.ts';
import { feature } from '../feature.ts';
import type { Messaging } from '../messaging/messaging.ts';
import { hostMetrics } from '../metrics.ts';
import type { PromptLibrary } from '../prompts/prompt-library.ts';
import type { Redactions } from '../redaction/redactions.ts';
import { INVOCATION_RETENTION_MS } from '../runtime/retention.ts';
import type { Settings } from '../settings.ts';
import type { StoreHealth } from '../store-health.ts';
import { TOOL_RATE } from '../tools/gates.ts';
import { createToolCalls, type ToolsOptions } from '../tools/tools.ts';
import type { PublicAddress } from './public-address.ts';
import { openSurfaces, type SurfacesOptions } from './surfaces.ts';

type Ports =
  | 'secrets'
  | 'credentials'
  | 'tools'
  | 'publicUrl'
  | 'messages'
  | 'models'
  | 'envelopes'
  | 'prompts';

interface Needs
  extends Omit<SurfacesOptions, Ports | 'settings' | 'invocationRetentionMs' | 'store' | 'redactions'>,
    Omit<ToolsOptions, 'settings' | 'store' | 'redactions'> {
  readonly store: Store;
  readonly redactions: Redactions;
  readonly settings: Settings;
  readonly address: PublicAddress;
  readonly health: Pick<StoreHealth, 'clockSkewMs'>;
  readonly credentials: Credentials;
  readonly messaging: Pick<Messaging, 'messages'>;
  readonly ai: Pick<Ai, 'models'>;
  readonly coreAi: { readonly envelopesPort: EnvelopesPort };
  readonly prompts: PromptLibrary;
}

/** After the features that offer ports to pack code: none of them needs surfaces. */
export const surfacesFeature = feature({
  name: 'surfaces',
  kinds: [TOOL_RATE],
  open: ({ address, health: _, messaging, ai, coreAi, ...parts }: Needs) =>
    openSurfaces({
      ...parts,
      secrets: secretsPort(parts.credentials),
      credentials: httpCredentials(parts),
      tools: createToolCalls(parts),
      publicUrl: () => address.known(),
      messages: messaging.messages,
      models: ai.models,
      envelopes: coreAi.envelopesPort,
      invocationRetentionMs: INVOCATION_RETENTION_MS,
    }),
  routes(app, surfaces, _, { health, now }) {
    const metrics = async () => (await surfaces.metrics()) + hostMetrics(health);
    surfaceRoutes(app, { health: surfaces.health, metrics });
    blobLinkRoutes(app, surfaces, now);
  },
});
