/** The services of a host behind its API: runs, deliveries to subscribers, schedules and triggers. */
import { randomUUID } from 'node:crypto';
import type { EgressByPurpose } from '@gantry/egress';
import type { Turns } from '@gantry/limiter';
import { Changes } from '@gantry/resources';
import { CommitPipeline } from '@gantry/store';
import { createAi } from './ai/ai.ts';
import { EnvelopeTasks, envelopeNode } from './ai/conformance-envelope.ts';
import { coreAiExecutors } from './ai/core-nodes.ts';
import { Envelopes } from './ai/envelopes.ts';
import { createEnvelopesPort } from './ai/envelopes-port.ts';
import { type Limits, NANO_USD } from './ai/ledger.ts';
import { MediaStore } from './ai/media-store.ts';
import { MockPrograms } from './ai/mock-programs.ts';
import { createModelGate } from './ai/model-gate.ts';
import { modelSource } from './ai/model-source.ts';
import { readAiConfig } from './ai/providers/config.ts';
import { Providers } from './ai/providers/providers.ts';
import { secretEcho } from './credentials/conformance-secret.ts';
import { type Credentials, createCredentials } from './credentials/credentials.ts';
import { externalStores } from './credentials/external-stores.ts';
import { DAY_MS } from './deliveries/delivery.ts';
import { Features } from './feature.ts';
import { FEATURES } from './features.ts';
import { linksOver } from './interrupts/approval-links.ts';
import { createInterruptTokens, type InterruptTokens } from './interrupts/interrupt-token.ts';
import { linkRevocations } from './interrupts/link-revocations.ts';
import type { KeyRing } from './master-key.ts';
import { createMessaging, type Messaging } from './messaging/messaging.ts';
import { createOAuth, type OAuth } from './oauth/oauth.ts';
import type { Packs } from './packs/packs.ts';
import type { Parts } from './parts.ts';
import { keyScopes, type ScopesOf } from './principals.ts';
import { CONFORMANCE_PROMPTS } from './prompts/conformance-prompts.ts';
import { PromptLibrary } from './prompts/prompt-library.ts';
import { GivenSecrets } from './redaction/given-secrets.ts';
import { createRekey } from './rekey.ts';
import { systemClock } from './runtime/clock.ts';
import { LocalRuntime, type RuntimeOptions } from './runtime/local-runtime.ts';
import { PoisonGuard } from './runtime/poison.ts';
import { INVOCATION_RETENTION_MS } from './runtime/retention.ts';
import type { Outbox } from './runtime/runtime.ts';
import type { Settings } from './settings.ts';
import type { PublicAddress } from './surfaces/public-address.ts';
import type { Surfaces } from './surfaces/surfaces.ts';
import { createTriggers, type Triggers } from './triggers/triggers.ts';
import { createWebhooks } from './webhooks/webhooks.ts';
import type { WorkflowsWithPlans } from './workflows/workflows.ts';

export interface ServicesOptions extends Pick<Parts, 'store' | 'redactions' | 'now' | 'randomBytes' | 'log'> {
  readonly masterKey: KeyRing;
  readonly workflows: WorkflowsWithPlans;
  readonly packs: Packs;
  readonly surfaces: Surfaces;
  readonly settings: Settings;
  readonly retentionMs: number;
  readonly runtime: Pick<RuntimeOptions, 'limits' | 'lease' | 'onLeaseLost'>;
  readonly turns: Turns;
  readonly egress: EgressByPurpose;
  readonly publicUrl: () => string;
  readonly address: Pick<PublicAddress, 'known'>;
}

export type Services = Awaited<ReturnType<typeof createServices>>;

/** Longer than a process continues after it has lost the database. */
const KEY_NOTICE_MS = 30_000;

export async function createServices(options: ServicesOptions) {
  const { store, settings, workflows, packs, surfaces, egress, redactions } = options;
  const features = new Features(FEATURES);
  const pipeline = new CommitPipeline(store, (group) => {
    features.committed(group);
    triggers.committed(group);
    oauth.committed(group);
    messaging.committed(group);
  });
  const changes = new Changes({ ...options, pipeline, sealer: options.masterKey });
  const envelopes = new Envelopes(changes, store.entries);
  const conformance = conformanceOf(settings);
  const { tasks, programs } = conformance ?? {};
  const scopesOf = keyScopes(store, options.now);
  const oauth = createOAuth({ ...options, changes, scopesOf });
  const credentials = openCredentials(options, { changes, oauth, scopesOf });
  const interruptTokens = interruptTokensOf(options, changes);
  const linksOf = linksOver(interruptTokens, options.address);
  const webhooks = createWebhooks({ ...options, changes, egress: egress.for('webhook'), linksOf });
  const connecting = { ...options, changes, credentials, egress: egress.for('connector') };
  const messaging: Messaging = createMessaging(connecting);
  const triggers: Triggers = openTriggers(options, changes, () => runtime);
  const models = openModels(options, credentials, { pipeline, changes });
  const runtime = await LocalRuntime.open({
    ...options,
    ...options.runtime,
    pipeline,
    dataDir: settings.dataDir,
    inflightCap: settings.inflightCap,
    planOf: workflows.planOf,
    resolve: workflows.resolve,
    packExecutor: packs.executor,
    executors: {
      'conformance.secret.echo': secretEcho(credentials, canaryOf(settings)),
      'conformance.envelope': envelopeNode(envelopes, tasks),
      ...coreAiExecutors({ ...options, ...models, envelopes, prompts: () => prompts, programs }),
    },
    outbox: both(webhooks.outbox, triggers.outbox),
    poison: new PoisonGuard({ ...options, endsMax: settings.poisonEnds }),
  });
  workflows.onChanged(triggers.syncTriggers);
  const prompts = promptLibrary(options, changes);
  const noticeMs = settings.databaseUrl === undefined ? 0 : KEY_NOTICE_MS;
  const rekey = createRekey({ ...options, changes, noticeMs, journalsMs: INVOCATION_RETENTION_MS });
  const envelopesPort = createEnvelopesPort({ ...options, ...models, envelopes });
  const asked = { ...models, prompts, envelopes, envelopesPort, interruptTokens, conformance };
  const background = { features, runtime, webhooks, triggers, messaging, oauth, rekey };
  const timed = [features, triggers, messaging];
  // Subscriptions before runs: runs that continue immediately may have events to deliver
  const starting = [rekey, webhooks, oauth, models.providers, runtime, ...timed];
  const stopping = [...timed, runtime, packs, { stop: surfaces.close }, webhooks, oauth, rekey];
  const opened = await features.open({ ...options, changes, runtime, webhooks, ai: models.ai });
  const services = { redactions, credentials, packs, surfaces, ...asked, ...opened, ...background };
  return { ...services, ...lifetime(starting, stopping) };
}

const promptLibrary = ({ packs, store, settings }: ServicesOptions, changes: Changes): PromptLibrary =>
  new PromptLibrary({
    records: packs.records,
    changes,
    store,
    builtIn: settings.testSeams ? CONFORMANCE_PROMPTS : [],
  });

const openTriggers = (options: ServicesOptions, changes: Changes, runtime: () => LocalRuntime): Triggers => {
  const { egress, settings, surfaces } = options;
  const attachments = { egress: egress.public, blobs: surfaces.blobs, bucket: settings.buckets[0] ?? '' };
  return createTriggers({ ...options, changes, queue: surfaces.queue, attachments, runtime });
};

/** Starts and stops services one after another, in these orders. */
function lifetime(
  starting: readonly { start(): Promise<void> }[],
  stopping: readonly { stop(): Promise<void> }[],
) {
  let started: Promise<void> | undefined;
  const startAll = async (): Promise<void> => {
    for (const service of starting) await service.start();
  };
  return {
    /**
     * Continues everything that earlier processes left, and due work. Callers that send requests without a port may
     * call only this, and listen later.
     */
    start: () => (started ??= startAll()),
    /** Waits for pending commits. */
    async stop(): Promise<void> {
      for (const service of stopping) await service.stop();
    },
  };
}

const interruptTokensOf = (
  { masterKey, settings, store, now }: ServicesOptions,
  changes: Changes,
): InterruptTokens =>
  createInterruptTokens({
    hmac: masterKey.hmac('interrupt-token'),
    now,
    personalMs: settings.interruptLinkDays * DAY_MS,
    revocations: linkRevocations({ changes, store }),
  });

function projectLimits({
  budgetEnforce,
  budgetTokensPerDay: tokens,
  budgetCostUsdPerDay: usd,
}: Settings): Limits {
  if (budgetEnforce === 'advisory') return {};
  return {
    ...(tokens !== undefined && { tokens }),
    ...(usd !== undefined && { cost: Math.round(usd * NANO_USD) }),
  };
}

/** Another process may have given a value to pack code. */
const SECRETS_LOOK_AGAIN_MS = 2_000;

interface CredentialParts {
  readonly changes: Changes;
  readonly oauth: OAuth;
  readonly scopesOf: ScopesOf;
}

function openCredentials(
  options: ServicesOptions,
  { changes, oauth, scopesOf }: CredentialParts,
): Credentials {
  const { settings, redactions, retentionMs, runtime } = options;
  const given = new GivenSecrets({
    ...options,
    changes,
    keptMs: retentionMs + runtime.limits.maxRunDurationMs,
    lookAgainMs: settings.databaseUrl === undefined ? null : SECRETS_LOOK_AGAIN_MS,
  });
  redactions.givenBy(given);
  return createCredentials({
    ...options,
    changes,
    scopesOf,
    given,
    tokens: oauth.tokens,
    stores: externalStores({
      variables: [...settings.secretVariables, ...settings.aiKeys],
      folder: settings.secretsDir,
    }),
  });
}

/** Only if the test seams are served. */
const conformanceOf = ({ testSeams }: Pick<Settings, 'testSeams'>) =>
  testSeams ? { tasks: new EnvelopeTasks(), programs: new MockPrograms() } : undefined;

function openModels(
  options: ServicesOptions,
  credentials: Credentials,
  { pipeline, changes }: { readonly pipeline: CommitPipeline; readonly changes: Changes },
) {
  const { settings, egress } = options;
  const config = readAiConfig(settings.ai);
  const providers = new Providers({
    ...options,
    credentials,
    config,
    ollamaHost: settings.ollamaHost,
    keys: settings.aiKeys,
  });
  const source = modelSource(providers);
  const media = new MediaStore(options);
  const terms = {
    source,
    media,
    egress: egress.public,
    projectLimits: projectLimits(settings),
    videoWaitMs: config.videoWaitMs,
  };
  return {
    providers,
    ai: createAi({ ...options, ...terms, pipeline, clock: systemClock }),
    modelGate: createModelGate({ source, providers, changes, testSeams: settings.testSeams }),
  };
}

function both(first: Outbox, second: Outbox): Outbox {
  return {
    writes(facts, events) {
      const writes = first.writes(facts, events);
      const more = second.writes(facts, events);
      return more.length === 0 ? writes : [...writes, ...more];
    },
    committed() {
      first.committed();
      second.committed();
    },
  };
}

/** The operator may set a value that the suite knows; otherwise it is random. */
const canaryOf = ({ testSeams, canarySecret }: Settings): string | undefined =>
  testSeams ? (canarySecret ?? `CANARY-CONFORMANCE-SECRET-${randomUUID()}`) : undefined;
