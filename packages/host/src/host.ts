/** Creates and connects all parts of the host. */

import { createEgressByPurpose, type EgressByPurpose } from '@gantry/egress';
import { type AdminKey, drained, ensureAdminKey, listen, randomBytes } from '@gantry/http';
import { createTurns } from '@gantry/limiter';
import { given } from '@gantry/protocol';
import { Changes } from '@gantry/resources';
import { CommitPipeline, openPostgres, openSqlite, type Store, writePidFile } from '@gantry/store';
import type { FastifyInstance } from 'fastify';
import type { DestinationStream, Logger } from 'pino';
import type { ApiDeps } from './api/context.ts';
import { createApi } from './api/server.ts';
import { signInUrl } from './api/session.ts';
import { type Console, createConsole } from './console/console.ts';
import { keyAudit } from './credentials/act.ts';
import { createDataDir } from './data-dir.ts';
import { Features } from './feature.ts';
import { FEATURES, type HostParts, type Services } from './features.ts';
import { openMasterKey } from './master-key.ts';
import { mountRegistry } from './mounted-registry.ts';
import type { Parts } from './parts.ts';
import { keyScopes } from './principals.ts';
import { processLog } from './redaction/process-log.ts';
import { createRedactions } from './redaction/redactions.ts';
import { sealedJournal } from './redaction/sealed-journal.ts';
import type { LeaseTerms } from './runtime/claims.ts';
import { startRetention } from './runtime/retention.ts';
import type { Settings } from './settings.ts';
import { watchStore } from './store-health.ts';
import { PublicAddress } from './surfaces/public-address.ts';
import type { Surfaces } from './surfaces/surfaces.ts';
import { HOST_NAME, HOST_VERSION } from './version.ts';
import { honouredFixtures } from './workflows/fixtures.ts';

/** Ceilings of every run; its own options can only lower them. */
const RUN_LIMITS = {
  maxNodeExecutions: 100_000,
  maxRunDurationMs: 30 * 86_400_000,
  maxLoopIterations: 1_000,
};
const API_LIMITS = { maxRequestBodyBytes: 1_048_576, sseSubscribersMax: 10_000 };

const SHARED_LEASE: LeaseTerms = { ttlMs: 15_000, renewEveryMs: 5_000 };
const SOLE_LEASE: LeaseTerms = { ...SHARED_LEASE, renewEveryMs: null };

export interface HostOptions {
  readonly settings: Settings;
  /** A store of the caller, possibly wrapped; by default the store of the settings. */
  readonly store?: Store;
  readonly log?: Logger;
  /** The destination of the log if the host creates it; the standard output by default. */
  readonly logTo?: DestinationStream;
  /** By default the time of the store if processes share it, else of this machine. */
  readonly now?: () => number;
  readonly lease?: LeaseTerms;
  /** The folder of a console other than the built one. */
  readonly consoleFolder?: string;
}

export interface Host {
  readonly app: FastifyInstance;
  /** Started with `start`, or separately by callers that send requests without a port. */
  readonly services: Services & Pick<Parts, 'redactions'> & Pick<Features<[]>, 'start' | 'stop'>;
  readonly adminKey: AdminKey;
  /** Workflow ids from the workflows folder. */
  readonly served: readonly string[];
  /** Deletes data past its retention now. */
  sweep(): Promise<number>;
  /** Starts to serve, and returns the address. */
  start(): Promise<string>;
  /** Stops accepting requests, waits for pending commits, and closes the store. */
  stop(): Promise<void>;
  /** A link that signs in a browser as the operator, once. */
  signInUrl(): Promise<string>;
  /** Why the console cannot be served; null if it can. */
  consoleProblem(): Promise<string | null>;
  /** Called when a new admin key was shown. */
  greeted(): Promise<void>;
  /** Resolves with the reason when the host can no longer work; it then has to be stopped. */
  readonly failed: Promise<Error>;
}

/** A start that fails closes everything that it opened. */
export async function createHost(options: HostOptions): Promise<Host> {
  const opened: Closing[] = [];
  try {
    return await wireHost(options, opened);
  } catch (error) {
    for (const close of opened.toReversed()) await close();
    throw error;
  }
}

type Closing = () => Promise<void>;

const SECONDS_PER_DAY = 86_400;

async function wireHost(options: HostOptions, opened: Closing[]): Promise<Host> {
  const { settings } = options;
  const redactions = createRedactions();
  const log = options.log ?? processLog(redactions, settings, options.logTo);
  await createDataDir(settings.dataDir);
  const lease = options.lease ?? (isShared(settings) ? SHARED_LEASE : SOLE_LEASE);
  const plain = options.store ?? (await openStore(settings));
  opened.push(() => plain.close());
  const health = watchStore({ store: plain, log, renewEveryMs: lease.renewEveryMs });
  // Processes that share a database must agree on due times and expired leases
  const now = options.now ?? health.store.now ?? Date.now;
  const masterKey = await openMasterKey({ settings, store: health.store, now, log });
  const store = sealedJournal(health.store, masterKey, redactions);
  const address = new PublicAddress(settings.publicUrl);
  const base: Base = {
    settings,
    store,
    health,
    lease,
    now,
    log,
    turns: createTurns(),
    redactions,
    egress: egressOf(settings, now),
    address,
    publicUrl: () => address.url,
    randomBytes,
    scopesOf: keyScopes(store, now),
    retentionMs: settings.retentionDays * SECONDS_PER_DAY * 1_000,
    facts: familyFacts(settings),
  };
  const features = new Features(FEATURES);
  const pipeline = new CommitPipeline(store, features.committed);
  const changes = new Changes({ store, pipeline, now, randomBytes, sealer: masterKey });
  const failed = Promise.withResolvers<Error>();
  const opening: HostParts = { ...base, masterKey, pipeline, changes, ...runTerms(base, failed.resolve) };
  const services = await features.open(opening);
  opened.push(() => features.stop());
  const audit = keyAudit({ now, randomBytes });
  const adminKey = await ensureAdminKey(store, { ...settings, now, randomBytes, audit });
  const console = createConsole(options.consoleFolder);
  const face = await serve(base, { services, features, console, masterKey });
  const { served } = services.workflows;
  return {
    ...face,
    services: { ...services, redactions, start: () => features.start(), stop: () => features.stop() },
    adminKey,
    greeted: adminKey.shown,
    served,
    signInUrl: async () => signInUrl(address.url, (await services.sessions.link(adminKey.record)).value),
    failed: failed.promise,
  };
}

type Made = 'masterKey' | 'changes' | 'pipeline' | 'limits' | 'onLeaseLost';

type Base = Omit<HostParts, Made>;

const egressOf = (
  { egressAllow: allow, dnsServers, outOfAudience }: Settings,
  now: () => number,
): EgressByPurpose =>
  createEgressByPurpose({ allow, dnsServers, credentials: { wallTime: now, outOfAudience } });

const isShared = ({ databaseUrl }: Settings): boolean => databaseUrl !== undefined;

const familyFacts = ({ retentionDays, budgetEnforce }: Settings) => ({
  name: HOST_NAME,
  retentionSeconds: retentionDays * SECONDS_PER_DAY,
  budgetEnforce,
});

function budgetLimits({ budgetMaxTokens, budgetMaxCostUsd, budgetEnforce }: Settings) {
  const budget = given({ maxTokens: budgetMaxTokens, maxCostUsd: budgetMaxCostUsd });
  return {
    ...(Object.keys(budget).length > 0 && { budget }),
    ...(budgetEnforce === 'advisory' && { advisoryBudget: true as const }),
  };
}

const runTerms = ({ lease, settings }: Base, fail: (why: Error) => void) => ({
  limits: { ...RUN_LIMITS, ...budgetLimits(settings) },
  lease,
  onLeaseLost: () => fail(new Error('the lease of this process is no longer in the database')),
});

interface Wired extends Pick<ApiDeps, 'masterKey'> {
  readonly console: Console;
  readonly services: Services;
  readonly features: Features<typeof FEATURES>;
}

/** The HTTP API, and the start and stop of the host. */
async function serve(
  base: Base,
  wired: Wired,
): Promise<Pick<Host, 'app' | 'consoleProblem' | 'sweep' | 'start' | 'stop'>> {
  const { settings, store, address, now, log } = base;
  const { services, features } = wired;
  const { workflows, runtime } = services;
  const retention = startRetention({
    sweep: store.retention,
    others: [features],
    retentionMs: base.retentionMs,
    now,
    log,
  });
  let ready = false;
  let told = Promise.resolve();
  const registry = await mountRegistry(base);
  const app = await createApi({
    ...base,
    ...wired,
    registry,
    workflows,
    runtime,
    seams: settings.testSeams,
    originOf: ({ protocol, host }) => settings.publicUrl ?? `${protocol}://${host}`,
    info: {
      ...base.facts,
      version: HOST_VERSION,
      fixtures: honouredFixtures(workflows.served, settings),
      limits: { ...RUN_LIMITS, ...API_LIMITS, ...budgetLimits(settings) },
    },
    isReady: () => ready,
  });
  let stopping: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    ready = false;
    await told;
    retention.stop();
    await drained(app.close());
    await registry?.stop();
    try {
      await features.stop();
    } finally {
      base.egress.close();
      await store.close();
    }
  };
  return {
    app,
    consoleProblem: wired.console.problem,
    sweep: retention.run,
    async start() {
      const url = await address.opened(async () => {
        await features.start();
        await registry?.start();
        return listen(app, settings);
      });
      ready = true;
      if (isShared(settings)) told = tellWarnings(services.surfaces, log);
      return url;
    },
    // A failure and a signal may both request it
    stop: () => (stopping ??= stop()),
  };
}

/** Logs warnings that `gantry doctor` also shows. Unusable backends were reported when they were opened. */
async function tellWarnings({ health }: Pick<Surfaces, 'health'>, log: Logger): Promise<void> {
  for (const each of await health())
    if (each.state === 'up' && each.warning !== undefined) log.warn(`${each.capability}: ${each.warning}`);
}

async function openStore({ databaseUrl, dataDir, databaseTimeoutSeconds }: Settings): Promise<Store> {
  if (databaseUrl === undefined) return openSqlite({ dataDir });
  const store = await openPostgres({ url: databaseUrl, statementTimeoutMs: databaseTimeoutSeconds * 1_000 });
  const removePidFile = writePidFile(dataDir);
  const close = async (): Promise<void> => {
    removePidFile();
    await store.close();
  };
  return { ...store, close };
}
