import type { InstalledPack, PackDetail, PackPlan, PackPlanResult, PackReceipts } from '@gantry/protocol';
import { type CallOptions, createCalls } from './calls.ts';
import type { Transport } from './transport.ts';

export interface InstallOptions extends CallOptions {
  /** The granted permissions, of those that it requires. */
  grant?: readonly string[];
  /** Other content may replace the same version; for packs in development. */
  development?: boolean;
  /** Permits replacing a newer version. */
  older?: boolean;
}

export interface RegistryInstall {
  name: string;
  /** Default: any version. */
  range?: string;
  /** The granted permissions, of those that the pack requires; not for its dependencies. */
  grant?: readonly string[];
}

export interface Packs {
  list(): Promise<InstalledPack[]>;
  /** All versions of a pack, its permissions in words, and who granted them. */
  get(name: string): Promise<PackDetail>;
  /** Installing the same archive again changes nothing. */
  install(archive: Uint8Array, options?: InstallOptions): Promise<InstalledPack>;
  /** The host downloads the pack and its dependencies from its own registries. */
  installFromRegistry(request: RegistryInstall, options?: CallOptions): Promise<InstalledPack>;
  /** Installs several packs, all of them or none; with a lockfile exactly those that it lists. */
  installPlan(plan: PackPlan, options?: CallOptions): Promise<PackPlanResult>;
  /** Replaces the granted permissions; all that are not named are revoked. */
  grant(name: string, requires: readonly string[]): Promise<PackDetail>;
  /** All versions unless one is named. Runs that use them continue. */
  remove(name: string, version?: string): Promise<void>;
  /** The observed use of permissions, compared with the grants. */
  receipts(name: string): Promise<PackReceipts>;
}

const PACKS = '/v1/host/gantry/packs';
/** The host resolves and downloads while the caller waits. */
const FROM_REGISTRY_TIMEOUT_MS = 300_000;

export function createPacks(transport: Transport): Packs {
  const { read, send } = createCalls(transport);
  const fromRegistry = <T>(body: RegistryInstall | PackPlan, { signal }: CallOptions = {}): Promise<T> =>
    transport.request({ method: 'POST', path: PACKS, body, signal, timeoutMs: FROM_REGISTRY_TIMEOUT_MS });
  const packPath = (name: string) => `${PACKS}/${encodeURIComponent(name)}`;
  return {
    list: async () => (await read<{ packs: InstalledPack[] }>(PACKS)).packs,
    get: (name) => read(packPath(name)),
    install: (archive, { grant = [], development, older, signal } = {}) =>
      transport.request({
        method: 'POST',
        path: PACKS,
        query: {
          ...(grant.length > 0 && { grant: grant.join(',') }),
          ...(development && { development: 'true' }),
          ...(older && { older: 'true' }),
        },
        body: archive,
        headers: { 'content-type': 'application/gzip' },
        signal,
      }),
    installFromRegistry: fromRegistry,
    installPlan: fromRegistry,
    grant: (name, requires) => send(`${packPath(name)}/grants`, { requires }),
    remove: (name, version) =>
      transport.request({ method: 'DELETE', path: packPath(name), query: { version } }),
    receipts: (name) => read(`${packPath(name)}/receipts`),
  };
}
