import type { InstalledPack, PackDetail, PackPlan, PackPlanResult, PackReceipts } from '@gantry/protocol';
import { type CallOptions, createCalls } from './calls.ts';
import type { Transport } from './transport.ts';

export interface InstallOptions extends CallOptions {
  /** Of what it requires, what it gets. */
  grant?: readonly string[];
  /** Other bytes may replace the same version; for packs that are being written. */
  development?: boolean;
  /** It may take the place of a newer version. */
  older?: boolean;
}

export interface RegistryInstall {
  name: string;
  /** Any version without it. */
  range?: string;
  /** Of what the pack requires, what it gets; its dependencies get nothing by this. */
  grant?: readonly string[];
}

export interface Packs {
  list(): Promise<InstalledPack[]>;
  /** All versions of a pack, its permissions in words, and who granted them. */
  get(name: string): Promise<PackDetail>;
  /** The same archive again changes nothing. */
  install(archive: Uint8Array, options?: InstallOptions): Promise<InstalledPack>;
  /** The host takes it from its own registries, with what it depends on. */
  installFromRegistry(request: RegistryInstall, options?: CallOptions): Promise<InstalledPack>;
  /** Several packs, all of them or none; with a lockfile exactly what it lists. */
  installPlan(plan: PackPlan, options?: CallOptions): Promise<PackPlanResult>;
  /** What it may do from now on; all that is not named is taken back. */
  grant(name: string, requires: readonly string[]): Promise<PackDetail>;
  /** All versions unless one is named. Runs that use them go on. */
  remove(name: string, version?: string): Promise<void>;
  /** What it was seen to use beside what it was granted. */
  receipts(name: string): Promise<PackReceipts>;
}

const PACKS = '/v1/host/gantry/packs';
/** The host resolves and fetches while the caller waits. */
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
