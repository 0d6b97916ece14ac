/** Wires the registry, which runs standalone (`main.ts`) or mounted in a host. */
import { type AccessRules, type Api, callerOf, knownCaller } from '@gantry/http';
import { ARCHIVE_LIMITS, type ArchiveLimits, type SigstoreTrust } from '@gantry/packs';
import type { Store } from '@gantry/store';
import type { Logger } from 'pino';
import Type from 'typebox';
import { PACK_ACCESS } from './access.ts';
import type { Catalogue, CatalogueName } from './catalogue/catalogue.ts';
import { ChangeLog, isChange } from './catalogue/change-log.ts';
import { ANYONE, createReaderOf, type ReaderOf, viewOf } from './catalogue/reader.ts';
import { StoreCatalogue } from './catalogue/store-catalogue.ts';
import { namedArchives } from './catalogue/version-entry.ts';
import { type Claim, covers } from './keychain/claim.ts';
import { Claims } from './keychain/claims.ts';
import { createKeyDirectory } from './keychain/directory.ts';
import { PRIVATE_SCOPE, PUBLIC_SCOPES } from './publish/address.ts';
import { ARRIVAL, type ArrivalTerms } from './publish/arrival.ts';
import { Publisher } from './publish/publish.ts';
import { keychainRoutes } from './routes/keychain.ts';
import { lifecycleRoutes } from './routes/lifecycle.ts';
import { packReadRoutes } from './routes/packs.ts';
import { publishRoute } from './routes/publish.ts';
import { createReads, READ_ACCESS, readRoutes, siteRoutes } from './routes/read-routes.ts';
import type { ArchiveStorage } from './storage/storage.ts';
import { sweepArchives } from './storage/storage.ts';

const SWEEP_EVERY_MS = 24 * 3_600_000;

/** Settings of a registry, standalone or mounted. */
interface RegistryPolicy {
  readonly name: string;
  /** The address for clients, without a trailing slash. Called once the registry serves. */
  readonly publicUrl: () => string;
  readonly acceptsUnsigned: boolean;
  /** Also accepts `private.` names, which can only be read with a key. */
  readonly acceptsPrivate: boolean;
  /** Trusted Sigstore root and signers; without them no bundle is verified. */
  readonly sigstore?: SigstoreTrust;
  /** Serves `/v1/packs-test/`. */
  readonly testNamespace: boolean;
}

interface RegistryOptions {
  readonly store: Store;
  readonly storage: ArchiveStorage;
  readonly policy: RegistryPolicy;
  readonly now: () => number;
  readonly log: Logger;
  readonly limits?: ArchiveLimits;
  readonly arrival?: ArrivalTerms;
}

export interface Registry {
  readonly catalogue: Catalogue;
  readonly testCatalogue: Catalogue | undefined;
  /** The API. */
  routes(app: Api): void;
  /** The root of a standalone registry: web pages, and schemas at their `$id`. */
  site(app: Api): void;
  /** Loads the catalogue and follows changes of other processes. Routes can be served from then on. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Deletes unreferenced archives and returns their number. */
  sweep(): Promise<number>;
}

/** Access rules for all routes of the registry. */
export const REGISTRY_ACCESS: AccessRules = { ...READ_ACCESS, ...PACK_ACCESS };

interface OpenCatalogue {
  readonly changes: ChangeLog;
  readonly catalogue: StoreCatalogue;
}

export function createRegistry(options: RegistryOptions): Registry {
  const { store, storage, policy, now, log, limits = ARCHIVE_LIMITS } = options;
  const open = (name: CatalogueName): OpenCatalogue => {
    const tell = (change: object): void => log.info({ catalogue: name, ...change }, 'registry changed');
    const changes = new ChangeLog({ store, catalogue: name, now, tell });
    return { changes, catalogue: new StoreCatalogue({ name, store, storage, changes, limits, now }) };
  };
  const main = open('packs');
  const test = policy.testNamespace ? open('packs-test') : undefined;
  const catalogues = test === undefined ? [main] : [main, test];
  const scopes: readonly string[] = policy.acceptsPrivate ? [...PUBLIC_SCOPES, PRIVATE_SCOPE] : PUBLIC_SCOPES;
  const claims = new Claims({ store, changes: main.changes, scopes, now });
  const publisher = new Publisher({
    storage,
    claims,
    limits,
    scopes,
    now,
    arrival: options.arrival ?? ARRIVAL,
    acceptsUnsigned: policy.acceptsUnsigned,
    sigstore: policy.sigstore,
    keyName: async ({ tenant, keyId }) =>
      (await store.records.keys(tenant)).find((key) => key.keyId === keyId)?.name ?? '',
  });
  // If private packs are not accepted, none are shown, including those published earlier.
  const readerOf = (name: CatalogueName): ReaderOf =>
    policy.acceptsPrivate ? createReaderOf(name, claims) : () => ANYONE;
  const guarded = (app: Api, add: (scope: Api) => void): void =>
    void app.register(async (scope: Api) => {
      if (policy.acceptsPrivate) guardPrivateReplies(scope);
      add(scope);
    });
  const reads = createReads({
    catalogue: main.catalogue,
    readerOf: readerOf('packs'),
    store,
    now,
    directory: createKeyDirectory(claims, now),
    profile: profileOf(policy, scopes),
  });
  const sweep = (): Promise<number> =>
    sweepArchives({ storage, named: () => namedArchives(store), now: now() });

  return {
    catalogue: main.catalogue,
    testCatalogue: test?.catalogue,
    routes: (app) =>
      guarded(app, (scope) => {
        // First: `1.0.0.sbom.json` also matches the route for the manifest of a version `1.0.0.sbom`.
        readRoutes(scope, reads);
        for (const { catalogue } of catalogues) {
          packReadRoutes(scope, {
            name: catalogue.name,
            view: (request) => viewOf(catalogue, readerOf(catalogue.name)(request)),
            openArchive: (version) => catalogue.openArchive(version),
            publicUrl: policy.publicUrl,
          });
          publishRoute(scope, catalogue, publisher);
          lifecycleRoutes(scope, { catalogue, claims, now });
        }
        if (test !== undefined) resetRoute(scope, test.catalogue);
        const isUsed = (claim: Claim): boolean =>
          catalogues.some(({ catalogue }) => catalogue.summaries().some(({ name }) => covers(claim, name)));
        keychainRoutes(scope, { claims, now, isUsed, readerOf: readerOf('packs') });
      }),
    site: (app) => guarded(app, (scope) => siteRoutes(scope, reads)),
    ...createRuntime({ store, storage, catalogues, claims, sweep, log }),
    sweep,
  };
}

/** Keeps all responses that depend on a key out of shared caches and of pages of other origins. */
function guardPrivateReplies(app: Api): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const varies = reply.getHeader('vary');
    void reply.header('vary', varies === undefined ? 'Authorization' : `${varies}, Authorization`);
    if (knownCaller(request) !== null)
      void reply
        .removeHeader('access-control-allow-origin')
        .removeHeader('access-control-expose-headers')
        .header('cache-control', 'private, no-cache');
    done(null, payload);
  });
}

const profileOf = (policy: RegistryOptions['policy'], scopes: readonly string[]) => ({
  name: policy.name,
  operator: policy.name,
  namespaces: scopes,
  acceptsUnsigned: policy.acceptsUnsigned,
  verifiesSigstore: policy.sigstore !== undefined,
  get publicUrl() {
    return policy.publicUrl();
  },
});

function resetRoute(app: Api, catalogue: StoreCatalogue): void {
  const schema = {
    summary: 'Delete everything in the test namespace',
    response: { 200: Type.Object({ reset: Type.Literal(true) }) },
  };
  app.post('/v1/packs-test/-/reset', { schema }, async (request) => {
    await catalogue.reset(callerOf(request).keyId);
    return { reset: true };
  });
}

interface RuntimeOptions {
  readonly store: Store;
  readonly storage: ArchiveStorage;
  readonly catalogues: readonly OpenCatalogue[];
  readonly claims: Claims;
  readonly sweep: () => Promise<number>;
  readonly log: Logger;
}

function createRuntime({
  store,
  storage,
  catalogues,
  claims,
  sweep,
  log,
}: RuntimeOptions): Pick<Registry, 'start' | 'stop'> {
  let unwatch: (() => Promise<void>) | undefined;
  let timer: NodeJS.Timeout | undefined;
  let sweeping: Promise<void> = Promise.resolve();
  const catchUp = (): Promise<unknown> => Promise.all(catalogues.map(({ changes }) => changes.catchUp()));
  const sweepNow = (): void => {
    sweeping = sweep().then(
      (count) => void (count > 0 && log.info({ count }, 'deleted unreferenced archives')),
      (error: unknown) => log.error({ err: error }, 'could not delete unreferenced archives'),
    );
  };
  return {
    async start() {
      await storage.start();
      for (const { changes } of catalogues) await changes.start();
      for (const { catalogue } of catalogues) await catalogue.load();
      await claims.load();
      unwatch = await store.watch(({ kinds, missed }) => {
        if (missed !== true && !kinds.some(isChange)) return;
        catchUp().catch((error: unknown) =>
          log.error({ err: error }, 'could not read changes of other processes'),
        );
      });
      await catchUp();
      sweepNow();
      timer = setInterval(sweepNow, SWEEP_EVERY_MS);
      timer.unref();
    },
    async stop() {
      clearInterval(timer);
      await unwatch?.();
      await sweeping;
      await storage.stop();
    },
  };
}
