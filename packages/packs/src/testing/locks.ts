/** What tests of lockfiles share. */
import assert from 'node:assert/strict';
import { type ErrorCode, OpenwopError } from '@gantry/protocol';
import type { HostOffer } from '../install/peer-dependencies.ts';
import { lockOf } from '../lock/lock-of.ts';
import type { PackLock } from '../lock/lockfile.ts';
import { PACK_KINDS, type PackKind } from '../manifest/kinds.ts';
import { Registries } from '../registry/registries.ts';
import {
  type Documents,
  memoryRegistry,
  nodeManifest,
  type Published,
} from '../registry/testing/memory-registry.ts';
import { type Root, resolvePacks } from '../resolve/resolve.ts';

export const TOOLS = 'vendor.acme.tools';
export const SHARED = 'vendor.acme.shared';

export const roots: readonly Root[] = [{ name: TOOLS, range: '^1.0.0', requestedBy: 'workflow greet' }];

export const offer: HostOffer = {
  protocolVersion: '1.1.0',
  capabilities: new Map([['host.kanban', []]]),
  languages: new Set(['javascript']),
  wasmAbiVersions: [],
  grants: [],
  kinds: new Set(Object.keys(PACK_KINDS) as PackKind[]),
  builtInTypeIds: new Set(),
};

/** `tools` depends on `shared`; both are signed, each in its own dialect. */
export const published: readonly Published[] = [
  {
    manifest: nodeManifest(TOOLS, '1.0.0', {
      dependencies: { [SHARED]: '^1.0.0' },
      peerDependencies: { 'host.kanban': 'supported' },
    }),
    method: 'ed25519',
  },
  { manifest: nodeManifest(SHARED, '1.2.0'), method: 'manual' },
];

export const registriesOf = (documents: Documents): Registries =>
  new Registries({ registries: [memoryRegistry(documents)] });

export async function lockFrom(documents: Documents, wanted: readonly Root[] = roots): Promise<PackLock> {
  const registries = registriesOf(documents);
  return lockOf(await resolvePacks({ roots: wanted, registries }), registries);
}

/** The failure of what must fail with this code. */
export async function failsWith(work: () => unknown, code: ErrorCode): Promise<OpenwopError> {
  try {
    await work();
  } catch (error) {
    assert.ok(error instanceof OpenwopError, String(error));
    assert.equal(error.code, code, error.message);
    return error;
  }
  return assert.fail(`should fail with ${code}`);
}
