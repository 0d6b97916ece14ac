/** The one place that wires the registry. It stands alone (`main.ts`) or is mounted in a host. */
import { type AccessRules, type Api, callerOf } from '@gantry/http';
import { ARCHIVE_LIMITS, type ArchiveLimits, type SigstoreTrust } from '@gantry/packs';
import type { Store } from '@gantry/store';
import type { Logger } from 'pino';
import Type from 'typebox';
import { PACK_ACCESS } from './access.ts';
import type { Catalogue, CatalogueName } from './catalogue/catalogue.ts';
import { ChangeLog, isChange } from './catalogue/change-log.ts';
import { StoreCatalogue } from './catalogue/store-catalogue.ts';
import { namedArchives } from './catalogue/version-entry.ts';
import { Claims } from './keychain/claims.ts';
import { createKeyDirectory } from './keychain/directory.ts';
import { HOME_SCOPES, PUBLIC_SCOPES } from './publish/address.ts';
import { Publisher } from './publish/publish.ts';
import { keychainRoutes } from './routes/keychain.ts';
import { lifecycleRoutes } from './routes/lifecycle.ts';
import { packReadRoutes } from './routes/packs.ts';
import { publishRoute } from './routes/publish.ts';
import { createReads, READ_ACCESS, readRoutes, siteRoutes } from './routes/read-routes.ts';
import type { ArchiveStorage } from './storage/storage.ts';
import { sweepArchives } from './storage/storage.ts';

const SWEEP_EVERY_MS = 24 * 3_600_000;

/** What an operator decides about a registry, wherever it runs. */
interface RegistryPolicy {
  readonly name: string;
  /** Where clients reach it, without a slash at the end; asked once it serves. */
  readonly publicUrl: () => string;
  readonly acceptsUnsigned: boolean;
  /** Takes `private.` and `local.` names too, as no public registry does. */
  readonly acceptsPrivate: boolean;
  /** Whose Sigstore bundles are believed; without it none is verified. */
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
}

export interface Registry {
  readonly catalogue: Catalogue;
  readonly testCatalogue: Catalogue | undefined;
  /** The API. */
  routes(app: Api): void;
  /** What stands at the root of a registry's own address: pages for people, schemas at their `$id`. */
  site(app: Api): void;
  /** Loads what is published and follows what other processes publish. Routes answer from then on. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Deletes archives that nothing names any more. Answers how many. */
  sweep(): Promise<number>;
}

/** The rules for every route of the registry. */
export const REGISTRY_ACCESS: AccessRules = { ...READ_ACCESS, ...PACK_ACCESS };

interface Shelf {
  readonly changes: ChangeLog;
  readonly catalogue: StoreCatalogue;
}

export function createRegistry(options: RegistryOptions): Registry {
  const { store, storage, policy, now, log, limits = ARCHIVE_LIMITS } = options;
  const shelf = (name: CatalogueName): Shelf => {
    const changes = new ChangeLog({ store, catalogue: name, now });
    return { changes, catalogue: new StoreCatalogue({ name, store, storage, changes, limits, now }) };
  };
  const main = shelf('packs');
  const test = policy.testNamespace ? shelf('packs-test') : undefined;
  const shelves = test === undefined ? [main] : [main, test];
  const scopes: readonly string[] = policy.acceptsPrivate
    ? [...PUBLIC_SCOPES, ...HOME_SCOPES]
    : PUBLIC_SCOPES;
  const claims = new Claims({ store, changes: main.changes, scopes, now });
  const publisher = new Publisher({
    storage,
    claims,
    limits,
    scopes,
    now,
    acceptsUnsigned: policy.acceptsUnsigned,
    sigstore: policy.sigstore,
    keyName: async ({ tenant, keyId }) =>
      (await store.records.keys(tenant)).find((key) => key.keyId === keyId)?.name ?? '',
  });
  const reads = createReads({
    catalogue: main.catalogue,
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
    routes(app) {
      // First, since `1.0.0.sbom.json` also looks like the manifest of a version `1.0.0.sbom`.
      readRoutes(app, reads);
      for (const { catalogue } of shelves) {
        packReadRoutes(app, { catalogue, publicUrl: policy.publicUrl });
        publishRoute(app, catalogue, publisher);
        lifecycleRoutes(app, { catalogue, claims, now });
      }
      if (test !== undefined) resetRoute(app, test.catalogue);
      keychainRoutes(app, { claims, now });
    },
    site: (app) => siteRoutes(app, reads),
    ...createLife({ store, storage, shelves, claims, sweep, log }),
    sweep,
  };
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
    summary: 'Forget everything in the test namespace',
    response: { 200: Type.Object({ reset: Type.Literal(true) }) },
  };
  app.post('/v1/packs-test/-/reset', { schema }, async (request) => {
    await catalogue.reset(callerOf(request).keyId);
    return { reset: true };
  });
}

interface Living {
  readonly store: Store;
  readonly storage: ArchiveStorage;
  readonly shelves: readonly Shelf[];
  readonly claims: Claims;
  readonly sweep: () => Promise<number>;
  readonly log: Logger;
}

function createLife({
  store,
  storage,
  shelves,
  claims,
  sweep,
  log,
}: Living): Pick<Registry, 'start' | 'stop'> {
  let unwatch: (() => Promise<void>) | undefined;
  let timer: NodeJS.Timeout | undefined;
  let sweeping: Promise<void> = Promise.resolve();
  const catchUp = (): Promise<unknown> => Promise.all(shelves.map(({ changes }) => changes.catchUp()));
  const sweepNow = (): void => {
    sweeping = sweep().then(
      (count) => void (count > 0 && log.info({ count }, 'archives that nothing names were deleted')),
      (error: unknown) => log.error({ err: error }, 'unnamed archives could not be looked for'),
    );
  };
  return {
    async start() {
      await storage.start();
      for (const { changes } of shelves) await changes.start();
      for (const { catalogue } of shelves) await catalogue.load();
      await claims.load();
      unwatch = await store.watch(({ kinds, missed }) => {
        if (missed !== true && !kinds.some(isChange)) return;
        catchUp().catch((error: unknown) =>
          log.error({ err: error }, 'what another process published is not known here yet'),
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
