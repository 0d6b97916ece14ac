/** The one place that wires everything. */
import { mkdir } from 'node:fs/promises';
import { openPostgres, openSqlite, type Store } from '@gantry/store';
import type { FastifyInstance } from 'fastify';
import { type Logger, pino } from 'pino';
import { ensureAdminKey } from './api/keys.ts';
import { createApi } from './api/server.ts';
import { openMasterKey } from './master-key.ts';
import { createPacks, type Packs, type PacksOptions } from './packs/packs.ts';
import { randomBytes } from './random-bytes.ts';
import { startRetention } from './runtime/retention.ts';
import { createServices, type Services } from './services.ts';
import type { Settings } from './settings.ts';
import { HOST_NAME, HOST_VERSION } from './version.ts';
import { honouredFixtures } from './workflows/fixtures.ts';
import { loadWorkflowsFolder } from './workflows/folder.ts';
import { createWorkflows } from './workflows/workflows.ts';

/** Ceilings of every run; its own options can only lower them. */
const RUN_LIMITS = {
  maxNodeExecutions: 100_000,
  maxRunDurationMs: 30 * 86_400_000,
  maxLoopIterations: 1_000,
};
const API_LIMITS = { maxRequestBodyBytes: 1_048_576, sseSubscribersMax: 10_000 };

const LEASE_TTL_MS = 15_000;
const LEASE_RENEW_MS = 5_000;
/** Another process may serve the same database, so what it registers must be seen here soon. */
const SHARED_DATABASE_CACHE_MS = 2_000;
const DRAIN_MS = 10_000;

export interface HostOptions {
  readonly settings: Settings;
  /** A store of the caller's, wrapped as it likes; else the one the settings name. */
  readonly store?: Store;
  readonly log?: Logger;
  readonly now?: () => number;
}

export interface Host {
  readonly app: FastifyInstance;
  /** Started with `start`, or alone by whoever sends requests without a port. */
  readonly services: Services;
  /** Set when this start made the first admin key. It is shown once and kept nowhere. */
  readonly newAdminKey: string | undefined;
  /** Workflow ids from the workflows folder. */
  readonly served: readonly string[];
  /** Deletes what is past its retention now. */
  sweep(): Promise<number>;
  /** Serves, and answers the address. */
  start(): Promise<string>;
  /** Stops taking requests, lets work under way reach the disk, and closes the store. */
  stop(): Promise<void>;
}

export async function createHost(options: HostOptions): Promise<Host> {
  const { settings } = options;
  const now = options.now ?? Date.now;
  const log = options.log ?? pino({ level: settings.logLevel, base: null });
  await mkdir(settings.dataDir, { recursive: true, mode: 0o700 });
  const store = options.store ?? (await openStore(settings));
  const shared = settings.databaseUrl !== undefined;
  const masterKey = await openMasterKey({ settings, store, now });
  // Processes of one database must know each other's tokens.
  if (shared) await masterKey.claim();

  const packs = await openPacks({ store, settings, now, log });
  const workflows = createWorkflows({
    store,
    packs,
    now,
    cacheMs: shared ? SHARED_DATABASE_CACHE_MS : Number.POSITIVE_INFINITY,
  });
  const served = await loadWorkflowsFolder(settings.workflowsDir, workflows, log);
  const admin = await ensureAdminKey(store, {
    ...(settings.apiKey !== undefined && { apiKey: settings.apiKey }),
    now,
    randomBytes,
  });
  const retentionMs = settings.retentionDays * 86_400_000;
  const services = await createServices({
    ...{ store, masterKey, workflows, packs, settings, retentionMs, now, randomBytes, log },
    runtime: {
      limits: RUN_LIMITS,
      lease: { ttlMs: LEASE_TTL_MS, renewEveryMs: shared ? LEASE_RENEW_MS : null },
      onLeaseLost: () => {
        log.fatal('the lease was lost to another process; stopping');
        void stop();
      },
    },
  });
  const retention = startRetention({ sweep: store.retention, retentionMs, now, log });
  let ready = false;
  const app = await createApi({
    ...{ services, workflows, store, masterKey, now, randomBytes, log },
    runtime: services.runtime,
    seams: settings.testSeams,
    info: {
      name: HOST_NAME,
      version: HOST_VERSION,
      fixtures: honouredFixtures(served),
      limits: { ...RUN_LIMITS, ...API_LIMITS },
      retentionSeconds: retentionMs / 1000,
    },
    isReady: () => ready,
  });

  async function start(): Promise<string> {
    await services.start();
    const url = await app.listen({ host: settings.host, port: settings.port });
    ready = true;
    return url;
  }

  async function stop(): Promise<void> {
    ready = false;
    retention.stop();
    await within(DRAIN_MS, app.close());
    await services.stop();
    await store.close();
  }

  return { app, services, newAdminKey: admin.created, served, sweep: retention.run, start, stop };
}

/** Workflows that are loaded next may use what the settings name. */
async function openPacks(options: PacksOptions & { readonly store: Store }): Promise<Packs> {
  const packs = createPacks(options);
  try {
    await packs.prepare();
    return packs;
  } catch (error) {
    await options.store.close();
    throw error;
  }
}

const openStore = (settings: Settings): Promise<Store> =>
  settings.databaseUrl === undefined
    ? openSqlite({ dataDir: settings.dataDir })
    : openPostgres({ url: settings.databaseUrl });

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, limit]);
  clearTimeout(timer);
}
