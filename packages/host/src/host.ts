/** The one place that wires everything. */
import { randomFillSync } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { openPostgres, openSqlite, type Store } from '@gantry/store';
import type { FastifyInstance } from 'fastify';
import { type Logger, pino } from 'pino';
import { ensureAdminKey } from './api/keys.ts';
import { createApi } from './api/server.ts';
import { LocalRuntime } from './runtime/local-runtime.ts';
import { startRetention } from './runtime/retention.ts';
import type { Settings } from './settings.ts';
import { HOST_NAME, HOST_VERSION } from './version.ts';
import { honouredFixtures } from './workflows/fixtures.ts';
import { loadWorkflowsFolder } from './workflows/folder.ts';
import { createWorkflows } from './workflows/workflows.ts';

/** Ceilings of every run; its own options can only lower them. */
const RUN_LIMITS = { maxNodeExecutions: 100_000, maxRunDurationMs: 30 * 86_400_000 };
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
  readonly runtime: LocalRuntime;
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

  const workflows = createWorkflows({
    store,
    now,
    cacheMs: shared ? SHARED_DATABASE_CACHE_MS : Number.POSITIVE_INFINITY,
  });
  const served = await loadWorkflowsFolder(settings.workflowsDir, workflows, log);
  const admin = await ensureAdminKey(store, {
    ...(settings.apiKey !== undefined && { apiKey: settings.apiKey }),
    now,
    randomBytes,
  });
  const runtime = await LocalRuntime.open({
    ...{ store, now, log, randomBytes, dataDir: settings.dataDir, inflightCap: settings.inflightCap },
    planOf: workflows.planOf,
    limits: RUN_LIMITS,
    lease: { ttlMs: LEASE_TTL_MS, renewEveryMs: shared ? LEASE_RENEW_MS : null },
    onLeaseLost: () => {
      log.fatal('the lease was lost to another process; stopping');
      void stop();
    },
  });
  const retentionMs = settings.retentionDays * 86_400_000;
  const retention = startRetention({ sweep: store.retention, retentionMs, now, log });
  let ready = false;
  const app = await createApi({
    ...{ runtime, workflows, store, now, randomBytes, log },
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
    await runtime.start();
    const url = await app.listen({ host: settings.host, port: settings.port });
    ready = true;
    return url;
  }

  async function stop(): Promise<void> {
    ready = false;
    retention.stop();
    await within(DRAIN_MS, app.close());
    await runtime.stop();
    await store.close();
  }

  return { app, runtime, newAdminKey: admin.created, served, sweep: retention.run, start, stop };
}

const openStore = (settings: Settings): Promise<Store> =>
  settings.databaseUrl === undefined
    ? openSqlite({ dataDir: settings.dataDir })
    : openPostgres({ url: settings.databaseUrl });

/** Random bytes from a pool: one system call serves hundreds of run ids. */
const pool = new Uint8Array(4096);
let poolUsed = pool.length;
function randomBytes(count: number): Uint8Array {
  if (poolUsed + count > pool.length) {
    randomFillSync(pool);
    poolUsed = 0;
  }
  poolUsed += count;
  return pool.slice(poolUsed - count, poolUsed);
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, limit]);
  clearTimeout(timer);
}
