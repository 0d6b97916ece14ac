import type { ImplementedSurface } from '../../calls/define-surface.ts';
import { type OpenedPort, openPort, SETTINGS } from '../../open-port.ts';
import { openedWhenNeeded } from '../../opened-when-needed.ts';
import type { VectorLimits, VectorsPort } from '../../ports/vectors.ts';
import type { PostgresDatabase, PostgresPool } from '../../postgres/connection.ts';
import { openPostgresVectors } from '../../postgres/vectors.ts';
import type { RetrievalDatabase } from '../../sqlite/database.ts';
import { embeddedVectors } from '../../sqlite/vectors.ts';
import { implementVectors } from './surface.ts';

const MISSING = 'missing';

const noBuild = (): Error =>
  new Error(
    'sqlite-vec has no build for this platform. Set GANTRY_VECTORS to postgres://... to have vectors.',
  );

/** None where vectors are missing. */
export const vectorSurfaces = ({ kind, port }: OpenedPort<VectorsPort>): ImplementedSurface[] =>
  kind === MISSING ? [] : [implementVectors({ port, ...(kind === 'pgvector' && { backend: kind }) })];

export interface OpenVectorsDeps {
  readonly embedded: RetrievalDatabase;
  readonly pool: PostgresPool;
  readonly limits: VectorLimits;
}

/**
 * `postgres://`, or nothing for the data folder. The kind is `pgvector` once the database is known to have that
 * extension, and `missing` where the data folder is meant and sqlite-vec has no build for the platform.
 */
export async function openVectors(
  setting: string | undefined,
  { embedded, pool, limits }: OpenVectorsDeps,
): Promise<OpenedPort<VectorsPort>> {
  const postgres = async (url: string) => vectorsOver(pool.open(url), limits);
  if (setting === undefined && !embedded.hasVectors)
    return {
      kind: MISSING,
      port: embeddedVectors(embedded, limits),
      health: () => Promise.reject(noBuild()),
    };
  return openPort({
    name: SETTINGS.vectors,
    value: setting,
    embedded: embeddedVectors(embedded, limits),
    backends: { postgres, postgresql: postgres },
  });
}

/** What the database has is looked at by who first needs it. */
function vectorsOver(database: PostgresDatabase, limits: VectorLimits): OpenedPort<VectorsPort> {
  let kind = 'postgres';
  const vectors = openedWhenNeeded({
    async open() {
      const { port, hasPgvector } = await openPostgresVectors(database, limits);
      if (hasPgvector) kind = 'pgvector';
      return port;
    },
  });
  const port: VectorsPort = {
    upsert: async (...args) => (await vectors.get()).upsert(...args),
    query: async (...args) => (await vectors.get()).query(...args),
    delete: async (...args) => (await vectors.get()).delete(...args),
    health: async () => (await vectors.get()).health(),
  };
  return {
    get kind() {
      return kind;
    },
    port,
    health: port.health,
  };
}
