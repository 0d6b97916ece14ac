/**
 * Seams of the public conformance suite. They are registered only if the operator enables them. Like every
 * route they need a key and stay in its tenant, and they run the same code as production.
 */
import type { Api } from '@gantry/http';
import type { EnvelopesPort } from '@gantry/surfaces';
import type { Ai } from '../../ai/ai.ts';
import type { EnvelopeTasks } from '../../ai/conformance-envelope.ts';
import type { Envelopes } from '../../ai/envelopes.ts';
import type { MockPrograms } from '../../ai/mock-programs.ts';
import type { Providers } from '../../ai/providers/providers.ts';
import type { Credentials } from '../../credentials/credentials.ts';
import type { OAuth } from '../../oauth/oauth.ts';
import type { Packs } from '../../packs/packs.ts';
import type { PromptLibrary } from '../../prompts/prompt-library.ts';
import type { Surfaces } from '../../surfaces/surfaces.ts';
import type { Webhooks } from '../../webhooks/webhooks.ts';
import type { ApiDeps } from '../context.ts';
import { createWaiting } from '../events.ts';
import { agentLoopSeam } from './agent-loop.ts';
import { artifactTypeSeams } from './artifact-types.ts';
import { attestationSeam } from './attestation.ts';
import { authorizationSeam } from './authorization.ts';
import { budgetSeam } from './budget.ts';
import { chainSeams } from './chains.ts';
import { concurrentClaimSeam } from './concurrent-claim.ts';
import { connectionPackSeams } from './connection-packs.ts';
import { credentialSeam } from './credentials.ts';
import { deadLetterSeam } from './dead-letter.ts';
import { createDrive } from './drive.ts';
import { emitSeams } from './emit-events.ts';
import { type Aliases, envelopeSeams, type Toggles } from './envelopes.ts';
import { fanOutSeam } from './fan-out.ts';
import { governanceSeam } from './governance.ts';
import { heartbeatSeam, type SeamHeartbeats } from './heartbeat.ts';
import { httpSeams } from './http.ts';
import { installGateSeam } from './install-gate.ts';
import { llmCacheKeySeam } from './llm-cache-key.ts';
import { mediaSeams } from './media.ts';
import { mockSeams, modelGateSeam } from './mock-models.ts';
import { modelSeams } from './models.ts';
import { oauthSeams } from './oauth.ts';
import { promptSeams } from './prompts.ts';
import { runLogSeams } from './run-log.ts';
import { sandboxSeams } from './sandbox.ts';
import { type SeamSchedules, schedulingSeam } from './scheduling.ts';
import { smallWorkflowSeams } from './small-workflows.ts';
import { membersOutside } from './surfaces/outside-runs.ts';
import { surfaceSeams } from './surfaces/surface-seam.ts';
import { webhookOperations } from './surfaces/webhooks.ts';
import { toolHookSeam } from './tool-hooks.ts';
import { RunlessLog, type SeamTriggers, triggerBridgeSeam } from './trigger-bridge.ts';

export interface SeamServices {
  readonly schedules: SeamSchedules;
  readonly heartbeats: SeamHeartbeats;
  readonly triggers: SeamTriggers;
  readonly credentials: Credentials;
  readonly packs: Packs;
  readonly prompts: PromptLibrary;
  readonly envelopes: Envelopes;
  readonly coreAi: { readonly envelopesPort: EnvelopesPort };
  readonly conformance: { readonly tasks?: EnvelopeTasks; readonly programs?: MockPrograms };
  readonly providers: Providers;
  readonly ai: Pick<Ai, 'models' | 'media'>;
  readonly oauth: OAuth;
  readonly surfaces: Surfaces;
  readonly webhooks: Pick<Webhooks, 'service'>;
}

export function seamRoutes(app: Api, deps: ApiDeps, services: SeamServices): void {
  const waiting = createWaiting(deps.runtime);
  const drive = createDrive(deps, waiting);
  schedulingSeam(app, deps, services.schedules);
  heartbeatSeam(app, deps, services.heartbeats);
  const runless = new RunlessLog();
  triggerBridgeSeam(app, deps, services.triggers, runless);
  deadLetterSeam(app, deps, drive);
  governanceSeam(app, drive);
  budgetSeam(app, drive);
  authorizationSeam(app, deps);
  fanOutSeam(app, drive);
  attestationSeam(app, drive);
  agentLoopSeam(app, drive);
  llmCacheKeySeam(app);
  chainSeams(app, deps, services.packs, drive);
  const toggles: Toggles = new Map();
  smallWorkflowSeams(app, deps, toggles);
  concurrentClaimSeam(app, deps, drive);
  installGateSeam(app, services.packs);
  connectionPackSeams(app, services.packs);
  credentialSeam(app, deps, drive, services.credentials);
  oauthSeams(app, services, drive);
  artifactTypeSeams(app, services.packs, drive);
  const outside = membersOutside(deps, services.surfaces);
  sandboxSeams(app, services.packs, outside);
  surfaceSeams(app, services.surfaces, outside, webhookOperations(services.webhooks.service));
  httpSeams(app, deps, services.surfaces, services.packs, drive);
  toolHookSeam(app, deps);
  const aliases: Aliases = new Map();
  runLogSeams(app, deps, drive, { runless, aliases });
  const { envelopes, coreAi, ai, providers } = services;
  const { tasks, programs } = services.conformance;
  if (tasks && programs) {
    envelopeSeams(app, drive, { envelopes, tasks }, aliases, toggles);
    emitSeams(app, drive, tasks, aliases);
    modelSeams(app, drive, { tasks, models: ai.models, ...coreAi, now: deps.now });
    mediaSeams(app, drive, { tasks, media: ai.media });
    mockSeams(app, programs);
  }
  modelGateSeam(app, providers);
  promptSeams(app, services.prompts);
  app.addHook('preClose', async () => waiting.close());
}
