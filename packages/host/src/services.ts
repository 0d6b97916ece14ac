/** What a host does beside answering requests: it runs, tells subscribers, keeps time and hears triggers. */
import { randomUUID } from 'node:crypto';
import type { EgressByPurpose } from '@gantry/egress';
import type { Turns } from '@gantry/limiter';
import { Changes } from '@gantry/resources';
import { CommitPipeline, type Store } from '@gantry/store';
import type { Logger } from 'pino';
import { secretEcho } from './credentials/conformance-secret.ts';
import { type Credentials, createCredentials } from './credentials/credentials.ts';
import { externalStores } from './credentials/external-stores.ts';
import { createHeartbeats, type Heartbeats } from './heartbeats/heartbeats.ts';
import type { MasterKey } from './master-key.ts';
import { createMessaging, type Messaging } from './messaging/messaging.ts';
import { createOAuth, type OAuth } from './oauth/oauth.ts';
import type { Packs } from './packs/packs.ts';
import { createGivenSecrets } from './redaction/given-secrets.ts';
import type { Redactions } from './redaction/redactions.ts';
import { LocalRuntime, type RuntimeOptions } from './runtime/local-runtime.ts';
import { PoisonGuard } from './runtime/poison.ts';
import type { Outbox } from './runtime/runtime.ts';
import { createSchedules, type Schedules } from './schedules/schedules.ts';
import type { Settings } from './settings.ts';
import type { Surfaces } from './surfaces/surfaces.ts';
import { createTriggers, type Triggers } from './triggers/triggers.ts';
import { createWebhooks, type Webhooks } from './webhooks/webhooks.ts';
import type { WorkflowsWithPlans } from './workflows/workflows.ts';

export interface ServicesOptions {
  readonly store: Store;
  readonly masterKey: MasterKey;
  readonly workflows: WorkflowsWithPlans;
  readonly packs: Packs;
  readonly surfaces: Surfaces;
  readonly settings: Settings;
  readonly retentionMs: number;
  readonly runtime: Pick<RuntimeOptions, 'limits' | 'lease' | 'onLeaseLost'>;
  readonly now: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly log: Logger;
  readonly turns: Turns;
  readonly redactions: Redactions;
  readonly egress: EgressByPurpose;
  readonly publicUrl: () => string;
}

export interface Services {
  readonly redactions: Redactions;
  readonly runtime: LocalRuntime;
  readonly webhooks: Webhooks;
  readonly triggers: Triggers;
  readonly schedules: Schedules;
  readonly heartbeats: Heartbeats;
  readonly credentials: Credentials;
  readonly oauth: OAuth;
  readonly messaging: Messaging;
  readonly packs: Packs;
  readonly surfaces: Surfaces;
  /** Goes on with everything that earlier processes left, and with what is due. */
  start(): Promise<void>;
  /** Lets work under way reach the disk. */
  stop(): Promise<void>;
}

export async function createServices(options: ServicesOptions): Promise<Services> {
  const { store, settings, workflows, packs, surfaces } = options;
  const pipeline = new CommitPipeline(store, (group) => {
    schedules.committed(group);
    heartbeats.committed(group);
    triggers.committed(group);
    oauth.committed(group);
    messaging.committed(group);
  });
  const changes = new Changes({ ...options, pipeline, sealer: options.masterKey });
  const oauth = createOAuth({ ...options, changes });
  const credentials = openCredentials(options, changes, oauth);
  const webhooks = createWebhooks({ ...options, changes, egress: options.egress.for('webhook') });
  const messaging: Messaging = createMessaging({
    ...options,
    changes,
    credentials,
    egress: options.egress.for('connector'),
  });
  const triggers: Triggers = createTriggers({
    ...options,
    changes,
    queue: surfaces.queue,
    attachments: { egress: options.egress.public, blobs: surfaces.blobs, bucket: settings.buckets[0] ?? '' },
    runtime: () => runtime,
  });
  const runtime = await LocalRuntime.open({
    ...options,
    ...options.runtime,
    pipeline,
    dataDir: settings.dataDir,
    inflightCap: settings.inflightCap,
    planOf: workflows.planOf,
    resolve: workflows.resolve,
    packExecutor: packs.executor,
    executors: { 'conformance.secret.echo': secretEcho(credentials, canaryOf(settings)) },
    outbox: both(webhooks.outbox, triggers.outbox),
    poison: new PoisonGuard({ ...options, endsMax: settings.poisonEnds }),
  });
  const schedules: Schedules = createSchedules({ ...options, changes, runtime });
  const heartbeats: Heartbeats = createHeartbeats({ ...options, changes, runtime });
  workflows.onRegistered(schedules.syncTriggers);
  workflows.onRegistered(triggers.syncTriggers);
  const { redactions } = options;
  const background = { webhooks, triggers, schedules, heartbeats, credentials, oauth, messaging };
  const services = { redactions, runtime, packs, surfaces, ...background };
  return { ...services, ...lifetime(services) };
}

function lifetime(services: Omit<Services, 'start' | 'stop'>): Pick<Services, 'start' | 'stop'> {
  const { runtime, webhooks, oauth, packs, surfaces } = services;
  const timed = [services.schedules, services.heartbeats, services.triggers, services.messaging];
  return {
    async start() {
      // Subscriptions first: runs that go on at once have something to tell.
      await webhooks.start();
      await oauth.start();
      await runtime.start();
      for (const service of timed) await service.start();
    },
    async stop() {
      for (const service of timed) await service.stop();
      await runtime.stop();
      await packs.stop();
      await surfaces.close();
      await webhooks.stop();
      await oauth.stop();
    },
  };
}

/** Another process may have given a value to pack code. */
const SECRETS_LOOK_AGAIN_MS = 2_000;

function openCredentials(options: ServicesOptions, changes: Changes, oauth: OAuth): Credentials {
  const { settings, redactions, retentionMs, runtime } = options;
  const given = createGivenSecrets({
    ...options,
    keptMs: retentionMs + runtime.limits.maxRunDurationMs,
    lookAgainMs: settings.databaseUrl === undefined ? null : SECRETS_LOOK_AGAIN_MS,
  });
  redactions.readyBy(given.known);
  return createCredentials({
    ...options,
    changes,
    given,
    tokens: oauth.tokens,
    stores: externalStores({ variables: settings.secretVariables, folder: settings.secretsDir }),
  });
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

/** The suite and the operator may agree on a value; any other is good enough to be looked for. */
const canaryOf = ({ testSeams, canarySecret }: Settings): string | undefined =>
  testSeams ? (canarySecret ?? `CANARY-CONFORMANCE-SECRET-${randomUUID()}`) : undefined;
