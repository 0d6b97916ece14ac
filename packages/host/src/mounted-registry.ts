/** The pack registry inside the host, if the settings enable it. Its code is loaded only then. */
import path from 'node:path';
import { loadTrust } from './packs/trust-file.ts';
import type { Parts } from './parts.ts';
import type { Settings } from './settings.ts';

export interface MountOptions extends Pick<Parts, 'store' | 'now' | 'log'> {
  readonly settings: Pick<
    Settings,
    'dataDir' | 'serveRegistry' | 'testSeams' | 'trustFile' | 'registries' | 'packSignatures'
  >;
  /** Called once the host serves. */
  readonly publicUrl: () => string;
}

export type MountedRegistry = NonNullable<Awaited<ReturnType<typeof mountRegistry>>>;

export async function mountRegistry(options: MountOptions) {
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
  /** `testNamespace`: whether the namespace of the conformance suite is served. */
  return { access, testNamespace, routes, start, stop };
}
