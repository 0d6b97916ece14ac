/** The surfaces of a host. Each needs nothing but a data folder, unless a setting names a server for it. */
import type { BackendHealth } from '@gantry/protocol';
import { sweptIfReachable } from './backend-errors.ts';
import { createHealth } from './backend-health.ts';
import { createCursors } from './calls/cursor.ts';
import type { ImplementedSurface } from './calls/define-surface.ts';
import type { LinkOptions } from './capabilities/blob/embedded-blobs.ts';
import type { PresignedAnswer, PresignedRequest } from './capabilities/blob/serve-presigned.ts';
import { implementBlobs } from './capabilities/blob/surface.ts';
import { implementCache } from './capabilities/cache/surface.ts';
import { openConverter } from './capabilities/fs/convert/converter.ts';
import { implementFs } from './capabilities/fs/surface.ts';
import { implementKv } from './capabilities/kv/surface.ts';
import { implementNosql } from './capabilities/nosql/surface.ts';
import { implementQueue } from './capabilities/queue/surface.ts';
import { implementSearch } from './capabilities/search/surface.ts';
import { implementTable } from './capabilities/table/surface.ts';
import { vectorSurfaces } from './capabilities/vector/open-vectors.ts';
import { openPorts, type Ports } from './open-ports.ts';
import type { QueuePort } from './ports/queue.ts';
import { sweepPostgres } from './postgres/sweep.ts';

/** By port: a URL, or for `datasources` the path of a file. What is left out stays in the data folder. */
export interface BackendSettings {
  readonly kv?: string | undefined;
  readonly cache?: string | undefined;
  readonly documents?: string | undefined;
  readonly vectors?: string | undefined;
  readonly search?: string | undefined;
  readonly queue?: string | undefined;
  readonly blobs?: string | undefined;
  readonly datasources?: string | undefined;
}

export interface SurfacesOptions {
  readonly dataDir: string;
  /** Signs cursors; the same in every process that serves a tenant. */
  readonly cursorKey: Uint8Array;
  /** How long a node that runs again finds the answers of its calls. */
  readonly invocationRetentionMs: number;
  readonly backends: BackendSettings;
  readonly now: () => number;
  /** What the operator should know of a backend. */
  readonly report: (fault: unknown) => void;
  /** Names that packs may put objects under; the first is the one they mean when they name none. */
  readonly buckets: readonly string[];
  /** To objects in the data folder. */
  readonly blobLinks: LinkOptions;
}

export interface OpenedSurfaces {
  readonly surfaces: readonly ImplementedSurface[];
  /** For triggers. */
  readonly queue: QueuePort;
  /** For as many as ask: see `backend-health.ts`. */
  health(): Promise<BackendHealth[]>;
  /** By capability: the setting that says where its data is. */
  readonly settings: ReadonlyMap<string, string>;
  /** Answers a request to a link of an object. */
  servePresigned(request: PresignedRequest): Promise<PresignedAnswer>;
  /** Deletes what is past its time, in small batches; answers how much it was. */
  sweep(now: number): Promise<number>;
  /** Lets writes under way reach the disk. */
  close(): Promise<void>;
}

export async function openSurfaces(options: SurfacesOptions): Promise<OpenedSurfaces> {
  const ports = await openPorts(options);
  const cursors = createCursors(options.cursorKey);
  const { kv, cache, tables, documents, vectors, search, queue, blobs, files, sql } = ports;
  const driver = documents.kind === 'embedded' ? 'sqlite' : documents.kind;
  return {
    surfaces: [
      implementKv({ port: kv.port, cursors }),
      implementCache({ port: cache.port }),
      implementTable({ port: tables.port, cursors }),
      implementNosql({
        datasources: [{ id: 'primary', driver, tenants: '*', port: documents.port }],
        cursors,
      }),
      sql.surface,
      ...vectorSurfaces(vectors),
      implementSearch({ port: search.port }),
      implementQueue({ port: queue.port, cursors }),
      implementBlobs({ port: blobs.port, cursors, buckets: options.buckets }),
      implementFs({ port: files, cursors, converter: openConverter() }),
    ],
    queue: queue.port,
    health: createHealth(ports.served, options.now),
    settings: ports.settings,
    servePresigned: ports.ownBlobs.servePresigned,
    sweep: (now) => sweep(ports, options.backends, now, now - options.invocationRetentionMs),
    close: ports.close,
  };
}

/** Small, so that a sweep never holds up live writes for long. */
const BATCH = 500;

async function sweep(
  ports: Ports,
  backends: BackendSettings,
  now: number,
  recordedBefore: number,
): Promise<number> {
  const { embedded, retrieval, pool, queue, ownBlobs } = ports;
  const batches = [
    ...(embedded.isInUse()
      ? [
          () => embedded.upkeep('kv', 'sweep', now, BATCH),
          () => embedded.upkeep('cache', 'sweep', now, BATCH),
          () => embedded.upkeep('invocations', 'forget', recordedBefore, BATCH),
        ]
      : []),
    ...(retrieval.isInUse() ? [() => retrieval.upkeep('invocations', 'forget', recordedBefore, BATCH)] : []),
  ];
  let deleted = 0;
  for (const batch of batches) {
    for (let count = BATCH; count === BATCH; deleted += count) count = await batch();
  }
  const urls = new Set(Object.values(backends).filter((url) => /^postgres(ql)?:/.test(url ?? '')));
  for (const url of urls)
    if (url !== undefined)
      deleted += await sweptIfReachable(sweepPostgres(pool.open(url), { now, recordedBefore }));
  if (embedded.isInUse()) deleted += await ownBlobs.sweep(now);
  if (embedded.isInUse() || queue.kind !== 'embedded')
    deleted += await sweptIfReachable(queue.port.sweep(now));
  return deleted;
}
