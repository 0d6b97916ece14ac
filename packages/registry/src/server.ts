/** The standalone registry, with its own store, storage, keys and address. */
import { mkdir } from 'node:fs/promises';
import {
  type AccessRules,
  type AdminKey,
  type Api,
  createServer,
  drained,
  ensureAdminKey,
  keyRoutes,
  listen,
  READABLE,
  type Routes,
  randomBytes,
} from '@gantry/http';
import { type ArchiveLimits, readTrustFile, type SigstoreTrust, TrustFileError } from '@gantry/packs';
import { given, OpenwopError } from '@gantry/protocol';
import { openPostgres, openSqlite, type Store } from '@gantry/store';
import { type Logger, pino } from 'pino';
import Type from 'typebox';
import type { ArrivalTerms } from './publish/arrival.ts';
import { createRegistry, REGISTRY_ACCESS, type Registry } from './registry.ts';
import { type Settings, SettingsError } from './settings.ts';
import { openStorage } from './storage/open-storage.ts';

/** For all bodies except archives, which have their own limit. */
const BODY_BYTES_MAX = 1_048_576;

const ACCESS: AccessRules = {
  ...REGISTRY_ACCESS,
  'GET /healthz': 'public',
  'GET /readyz': 'public',
  'GET /v1/host/gantry/keys': ['keys:manage'],
  'POST /v1/host/gantry/keys': ['keys:manage'],
  'POST /v1/host/gantry/keys/{keyId}/rotate': ['keys:manage'],
  'DELETE /v1/host/gantry/keys/{keyId}': ['keys:manage'],
};

interface RegistryServerOptions {
  readonly settings: Settings;
  readonly now?: () => number;
  readonly log?: Logger;
  readonly limits?: ArchiveLimits;
  readonly arrival?: ArrivalTerms;
}

export interface RegistryServer {
  readonly app: Api;
  /** As registered. */
  readonly routes: Routes;
  readonly registry: Registry;
  readonly adminKey: AdminKey;
  /** Loads the catalogue without opening a port, for injected requests. */
  prepare(): Promise<void>;
  /** Listens, and returns the address. */
  start(): Promise<string>;
  /** Called after a new admin key was shown. */
  greeted(): Promise<void>;
  /** Stops accepting requests, waits for those in progress, and closes the store. */
  stop(): Promise<void>;
}

export async function createRegistryServer(options: RegistryServerOptions): Promise<RegistryServer> {
  const { settings, now = Date.now, limits, arrival } = options;
  const log = options.log ?? pino({ level: settings.logLevel, base: null, ...READABLE });
  await mkdir(settings.dataDir, { recursive: true, mode: 0o700 });
  const store = await openStore(settings);
  const storage = openStorage(settings.storage, { dataDir: settings.dataDir, now });
  const adminKey = await ensureAdminKey(store, { ...settings, now, randomBytes });
  const sigstore = await sigstoreOf(settings.trustFile);
  let url = `http://${settings.host}:${settings.port}`;
  const registry = createRegistry({
    store,
    storage,
    now,
    log,
    ...given({ limits, arrival }),
    policy: {
      name: settings.name,
      acceptsUnsigned: settings.acceptsUnsigned,
      acceptsPrivate: settings.acceptsPrivate,
      testNamespace: settings.testSeams,
      ...given({ sigstore }),
      publicUrl: () => settings.publicUrl ?? url,
    },
  });
  if (settings.testSeams) log.warn('the test namespace /v1/packs-test/ is served');
  let ready = false;
  const { app, routes } = createApp({ store, registry, now, log, isReady: () => ready });

  const prepare = async (): Promise<void> => {
    await registry.start();
    await app.ready();
    ready = true;
  };
  return {
    app,
    routes,
    registry,
    adminKey,
    greeted: adminKey.shown,
    prepare,
    async start() {
      await prepare();
      url = await listen(app, settings);
      return url;
    },
    async stop() {
      ready = false;
      await drained(app.close());
      await registry.stop();
      await store.close();
    },
  };
}

async function sigstoreOf(trustFile: string | undefined): Promise<SigstoreTrust | undefined> {
  if (trustFile === undefined) return;
  const { sigstore } = await readTrustFile(trustFile).catch((error: unknown) => {
    throw error instanceof TrustFileError
      ? new SettingsError(`GANTRY_REGISTRY_TRUST: ${error.message}`)
      : error;
  });
  return sigstore;
}

function createApp(options: {
  readonly store: Store;
  readonly registry: Registry;
  readonly now: () => number;
  readonly log: Logger;
  readonly isReady: () => boolean;
}): Pick<RegistryServer, 'app' | 'routes'> {
  const { store, registry, now, log, isReady } = options;
  const { app, routes, keys, idempotency } = createServer({
    store,
    now,
    randomBytes,
    log,
    access: ACCESS,
    maxRequestBodyBytes: BODY_BYTES_MAX,
  });
  healthRoutes(app, isReady);
  keyRoutes(app, { store, now, randomBytes, cache: keys }, idempotency);
  registry.routes(app);
  registry.site(app);
  return { app, routes };
}

const described = (summary: string) => ({
  schema: { summary, response: { 200: Type.Object({ status: Type.Literal('ok') }) } },
});

/** `healthz`: the process is up. `readyz`: the catalogue is loaded. */
function healthRoutes(app: Api, isReady: () => boolean): void {
  app.get('/healthz', described('The process is up'), async () => ({ status: 'ok' }));
  app.get('/readyz', described('The registry is serving'), async () => {
    if (!isReady()) throw new OpenwopError('service_unavailable', { headers: { 'retry-after': '1' } });
    return { status: 'ok' };
  });
}

const openStore = (settings: Settings): Promise<Store> =>
  settings.databaseUrl === undefined
    ? openSqlite({ dataDir: settings.dataDir })
    : openPostgres({ url: settings.databaseUrl });
