/**
 * Decides which packs a reader of a catalogue sees. Private packs are visible to the tenants that may publish them
 * and to operators. For all others they do not exist.
 */
import { type Caller, HOST_ADMIN, knownCaller, liveTenant } from '@gantry/http';
import type { FastifyRequest } from 'fastify';
import { covers } from '../keychain/claim.ts';
import type { Claims } from '../keychain/claims.ts';
import { isPublicName } from '../publish/address.ts';
import type { Catalogue, CatalogueName } from './catalogue.ts';

export interface Reader {
  /** Equal for readers that see the same packs at one revision; the cache key of derived documents. */
  readonly id: string;
  /** For a pack or a namespace. */
  sees(name: string): boolean;
}

/** A reader without a key, or with one that shows nothing more. */
export const ANYONE: Reader = { id: 'anyone', sees: isPublicName };
const OPERATOR: Reader = { id: 'operator', sees: () => true };

export type ReaderOf = (request: FastifyRequest) => Reader;

export const createReaderOf =
  (catalogue: CatalogueName, claims: Pick<Claims, 'privateOf'>): ReaderOf =>
  (request) => {
    const caller = knownCaller(request);
    if (caller === null) return ANYONE;
    return caller.scopes.has(HOST_ADMIN) ? OPERATOR : tenantReader(tenantOf(catalogue, caller), claims);
  };

/** Test keys publish only to the test catalogue, so they see private packs only there. */
const tenantOf = (catalogue: CatalogueName, { tenant }: Caller): string =>
  catalogue === 'packs-test' ? liveTenant(tenant) : tenant;

function tenantReader(tenant: string, claims: Pick<Claims, 'privateOf'>): Reader {
  const own = claims.privateOf(tenant);
  if (own.length === 0) return ANYONE;
  return {
    id: `tenant ${tenant}`,
    sees: (name) => isPublicName(name) || own.some((claim) => covers(claim, name)),
  };
}

/** The catalogue as its reader sees it. */
export interface CatalogueView extends Catalogue {
  readonly reader: Reader;
}

export const viewOf = (catalogue: Catalogue, reader: Reader): CatalogueView => ({
  name: catalogue.name,
  reader,
  get revision() {
    return catalogue.revision;
  },
  summaries: () => catalogue.summaries().filter(({ name }) => reader.sees(name)),
  summary: (name) => (reader.sees(name) ? catalogue.summary(name) : undefined),
  versions: async (name) => (reader.sees(name) ? catalogue.versions(name) : []),
  version: async (name, version) => (reader.sees(name) ? catalogue.version(name, version) : undefined),
  archive: (version) => catalogue.archive(version),
  file: (version, path) => catalogue.file(version, path),
});
