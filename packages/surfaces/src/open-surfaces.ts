/** The surfaces of a host. Each needs only a data folder, unless a setting names a server for it. */
import type { EgressByPurpose } from '@gantry/egress';
import type { BackendHealth } from '@gantry/protocol';
import { sweptIfReachable } from './backend-errors.ts';
import { absencesOf, createHealth, createOutageReport, notShared } from './backend-health.ts';
import { SURFACES } from './calls/catalogue.ts';
import { createCursors } from './calls/cursor.ts';
import type { ImplementedSurface } from './calls/define-surface.ts';
import type { ModelsPort } from './capabilities/ai/surface.ts';
import type { LinkOptions, PresignedAnswer, PresignedRequest } from './capabilities/blob/hosted-blobs.ts';
import type { EnvelopesPort } from './capabilities/envelopes/surface.ts';
import type { HttpCredentials } from './capabilities/http/credential.ts';
import { openRawFetch } from './capabilities/http/surface.ts';
import type { PromptsPort } from './capabilities/prompts/surface.ts';
import type { SecretsPort } from './capabilities/secrets/surface.ts';
import { type BackendSettings, DATA_DIR, type OpenDeps, type OpenedSurface } from './open-port.ts';
import type { BlobPort } from './ports/blobs.ts';
import type { MessagesPort } from './ports/messages.ts';
import type { QueuePort } from './ports/queue.ts';
import { createPostgresPool } from './postgres-pool.ts';
import type { QuotaEntry } from './quotas.ts';
import { openEmbeddedDatabase } from './sqlite/database.ts';

export interface SurfacesOptions {
  readonly dataDir: string;
  /** Signs cursors. Must be the same in every process that serves a tenant. */
  readonly cursorKey: Uint8Array;
  /** How long recorded answers are kept for nodes that run again. */
  readonly invocationRetentionMs: number;
  readonly backends: BackendSettings;
  /** Quotas other than the defaults. */
  readonly quotas?: readonly QuotaEntry[];
  /** The number of processes that serve the same tenants. Default: this one alone. */
  readonly processes?: () => Promise<number>;
  readonly now: () => number;
  /** Reports problems of backends to the operator. */
  readonly report: (fault: unknown) => void;
  /** The bucket names that packs may use; the first is the default. */
  readonly buckets: readonly string[];
  /** Links to objects in the data folder. */
  readonly blobLinks: LinkOptions;
  /** Without it the surface is absent. */
  readonly secrets?: SecretsPort;
  /** The credentials that `ctx.http` sends; without it, none. */
  readonly credentials?: HttpCredentials;
  readonly egress: EgressByPurpose;
  /** Without it `messaging` is absent. */
  readonly messages?: MessagesPort;
  /** Without it `ctx.callAI` is absent. */
  readonly models?: ModelsPort;
  /** Without it `promptLibrary` is absent. */
  readonly prompts?: PromptsPort;
  readonly envelopes?: EnvelopesPort;
}

export interface OpenedSurfaces {
  readonly surfaces: readonly ImplementedSurface[];
  /** Used by triggers. */
  readonly queue: QueuePort;
  /** Used for attachments of messages. */
  readonly blobs: BlobPort;
  /** May be called concurrently: see `backend-health.ts`. */
  health(): Promise<BackendHealth[]>;
  /** By capability: the setting that selects where its data is. */
  readonly settings: ReadonlyMap<string, string>;
  /** Answers a request to a presigned link of an object. */
  servePresigned(request: PresignedRequest): Promise<PresignedAnswer>;
  /** Deletes expired data, in small batches; answers the number of deleted items. */
  sweep(now: number): Promise<number>;
  /** Deletes the recorded answers of a run's calls. Rejects when a backend cannot be reached. */
  forgetRun(tenant: string, runId: string): Promise<void>;
  /** Waits until pending writes are on disk. */
  close(): Promise<void>;
}

/** Reports unreachable servers and uses them when they answer; a misconfigured one is an error. */
export async function openSurfaces(options: SurfacesOptions): Promise<OpenedSurfaces> {
  const outages = createOutageReport(options);
  const closing: (() => Promise<unknown>)[] = [];
  try {
    const deps = await openDatabases({ ...options, report: outages.fault }, closing);
    const opened: OpenedSurface[] = [];
    for (const { capability, opens } of SURFACES) {
      const surface = await opens(deps, capability);
      if (surface.close) closing.push(surface.close);
      opened.push(surface);
    }
    opened.push(await openRawFetch(deps, ''));
    const backends = opened.flatMap((each) => each.backends);
    const servers = backends.filter(({ setting }) => setting !== DATA_DIR);
    for (const absence of await absencesOf(servers)) outages.absent(absence);
    const { queue, blobs, servePresigned } = Object.assign({}, ...opened.map(({ offers }) => offers));
    return {
      surfaces: opened.flatMap(({ implement }) => implement() ?? []),
      queue,
      blobs,
      servePresigned,
      health: createHealth(
        backends.map((each) => notShared(each, options.processes ?? (async () => 1))),
        options.now,
      ),
      settings: new Map(backends.map(({ capability, setting }) => [capability, setting])),
      sweep: (now) => sweep(deps, opened, now),
      forgetRun: (tenant, runId) => forgetRun(deps, tenant, runId),
      async close() {
        for (const close of closing.toReversed()) await close();
      },
    };
  } catch (error) {
    await Promise.allSettled(closing.toReversed().map((close) => close()));
    throw error;
  }
}

async function openDatabases(
  options: SurfacesOptions,
  closing: (() => Promise<unknown>)[],
): Promise<OpenDeps> {
  const { dataDir, cursorKey } = options;
  const embedded = await openEmbeddedDatabase({ dataDir });
  const pool = createPostgresPool();
  closing.push(embedded.close, pool.close);
  return { ...options, embedded, pool, cursors: createCursors(cursorKey) };
}

/** Small, so that a sweep does not delay live writes for long. */
const BATCH = 500;

async function sweep(deps: OpenDeps, opened: readonly OpenedSurface[], now: number): Promise<number> {
  const { embedded, pool, invocationRetentionMs } = deps;
  const recordedBefore = now - invocationRetentionMs;
  const batches = [
    () => (embedded.isInUse('kv') ? embedded.upkeep('kv', 'sweep', now, BATCH) : 0),
    () => (embedded.isInUse('cache') ? embedded.upkeep('cache', 'sweep', now, BATCH) : 0),
    () => embedded.upkeep('invocations', 'forget', recordedBefore, BATCH),
  ];
  let deleted = 0;
  for (const batch of batches) {
    for (let count = BATCH; count >= BATCH; deleted += count) count = await batch();
  }
  for (const database of pool.databases()) {
    const { sweepPostgres } = await import('./postgres/sweep.ts');
    deleted += await sweptIfReachable(sweepPostgres(database, { now, recordedBefore }));
  }
  for (const surface of opened) if (surface.sweep) deleted += await sweptIfReachable(surface.sweep(now));
  return deleted;
}

async function forgetRun({ embedded, pool }: OpenDeps, tenant: string, runId: string): Promise<void> {
  await embedded.upkeep('invocations', 'forgetRun', tenant, runId);
  for (const database of pool.databases()) {
    const { forgetRunInPostgres } = await import('./postgres/sweep.ts');
    await forgetRunInPostgres(database, tenant, runId);
  }
}
