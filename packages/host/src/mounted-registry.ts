/** The pack registry inside the host, where the settings ask for it. Its code is loaded only then. */
import path from 'node:path';
import type { AccessRules, Api } from '@gantry/http';
import { loadTrust } from './packs/trust-file.ts';
import type { Parts } from './parts.ts';
import type { Settings } from './settings.ts';

export interface MountedRegistry {
  readonly access: AccessRules;
  /** Whether the namespace of the conformance suite is served. */
  readonly testNamespace: boolean;
  routes(app: Api): void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface MountOptions extends Pick<Parts, 'store' | 'now' | 'log'> {
  readonly settings: Pick<
    Settings,
    'dataDir' | 'serveRegistry' | 'testSeams' | 'trustFile' | 'registries' | 'packSignatures'
  >;
  /** Asked once the host serves. */
  readonly publicUrl: () => string;
}

export async function mountRegistry(options: MountOptions): Promise<MountedRegistry | undefined> {
  const { store, settings, publicUrl, now, log } = options;
  const { dataDir, serveRegistry, testSeams: testNamespace } = settings;
  if (!serveRegistry && !testNamespace) return undefined;
  const { createRegistry, openStorage, REGISTRY_ACCESS: access } = await import('@gantry/registry');
  const folder = path.join(dataDir, 'registry');
  const { sigstore } = await loadTrust(settings);
  const registry = createRegistry({
    store,
    now,
    log,
    storage: openStorage({ kind: 'folder', folder }, { dataDir, now }),
    policy: {
      // The keys of a host belong to its tenants, not to publishers: private packs need a registry of their own.
      name: 'Gantry',
      publicUrl,
      acceptsPrivate: false,
      testNamespace,
      ...(sigstore && { sigstore }),
      // The conformance suite signs nothing.
      acceptsUnsigned: testNamespace,
    },
  });
  if (testNamespace) log.warn('the test namespace /v1/packs-test/ is served');
  const { routes, start, stop } = registry;
  return { access, testNamespace, routes, start, stop };
}
