import type { ImplementedSurface } from '../define-surface.ts';
import type { RetrievalDatabase } from '../embedded/database.ts';
import { embeddedVectors } from '../embedded/vectors.ts';
import { type OpenedPort, openPort } from '../open-port.ts';
import type { VectorLimits, VectorsPort } from '../ports/vectors.ts';
import type { PostgresPool } from '../postgres/connection.ts';
import { openPostgresVectors } from '../postgres/vectors.ts';
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
 * `postgres://`, or nothing for the data folder. The kind is `pgvector` where the database has that extension, and
 * `missing` where the data folder is meant and sqlite-vec has no build for the platform.
 */
export async function openVectors(
  setting: string | undefined,
  { embedded, pool, limits }: OpenVectorsDeps,
): Promise<OpenedPort<VectorsPort>> {
  const postgres = async (url: string): Promise<OpenedPort<VectorsPort>> => {
    const { port, hasPgvector } = await openPostgresVectors(await pool.open(url), limits);
    return { kind: hasPgvector ? 'pgvector' : 'postgres', port, health: () => port.health() };
  };
  if (setting === undefined && !embedded.hasVectors)
    return {
      kind: MISSING,
      port: embeddedVectors(embedded, limits),
      health: () => Promise.reject(noBuild()),
    };
  return openPort({
    ...{ name: 'GANTRY_VECTORS', value: setting, embedded: embeddedVectors(embedded, limits) },
    backends: { postgres, postgresql: postgres },
  });
}
