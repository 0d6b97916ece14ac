/** The discovery document: supported features and addresses. */
import type { Reader } from '../catalogue/reader.ts';

export const REGISTRY_VERSION = '1.0.0';

export interface RegistryProfile {
  readonly name: string;
  readonly operator: string;
  /** The address for clients, without a trailing slash. */
  readonly publicUrl: string;
  /** Scopes that may be published here, such as `core` and `vendor`. */
  readonly namespaces: readonly string[];
  readonly acceptsUnsigned: boolean;
  /** A root and signers are configured. */
  readonly verifiesSigstore: boolean;
}

export interface SigningKeyEntry {
  readonly keyId: string;
  readonly algorithm: string;
  readonly publicKeyUrl: string;
  readonly permittedNamespaces: readonly string[];
  readonly operator?: string;
  readonly status: string;
  readonly validFrom?: string;
  readonly validUntil?: string;
}

/** The keys that may sign the names that a reader sees. */
export interface KeyDirectory {
  signingKeys(reader: Reader): readonly SigningKeyEntry[];
  namespaceAssignments(reader: Reader): readonly object[];
}

const ENDPOINTS = {
  registryIndex: '/v1/index.json',
  packMetadata: '/v1/packs/{name}',
  versionManifest: '/v1/packs/{name}/-/{version}.json',
  versionTarball: '/v1/packs/{name}/-/{version}.tgz',
  versionSignature: '/v1/packs/{name}/-/{version}.sig',
  versionSbom: '/v1/packs/{name}/-/{version}.sbom.json',
  publicKey: '/keys/{keyId}.pub',
  keychain: '/v1/packs/{name}/-/keychain',
  search: '/v1/packs/-/search',
  byType: '/v1/packs/-/by-type/{typeId}',
  catalog: '/v1/packs/-/catalog',
  registrySbom: '/v1/sbom.json',
  advisories: '/security/advisories.json',
} as const;

export function describeRegistry(profile: RegistryProfile, directory: KeyDirectory, reader: Reader) {
  return {
    registryVersion: REGISTRY_VERSION,
    protocolVersion: '1.0',
    name: profile.name,
    operator: profile.operator,
    url: profile.publicUrl,
    supportedNamespaces: profile.namespaces,
    supportedSigningMethods: [
      'manual',
      'ed25519',
      ...(profile.verifiesSigstore ? ['sigstore'] : []),
      ...(profile.acceptsUnsigned ? ['none'] : []),
    ],
    supportedTrustModes: ['allowlist', 'pinned', 'verified', 'open'],
    endpoints: ENDPOINTS,
    writeApi: {
      supported: true,
      publishMethod: 'PUT',
      publishUrl: `${profile.publicUrl}${ENDPOINTS.versionTarball}`,
    },
    lifecycle: { yankSupported: true, deprecateSupported: true, keyRotationSupported: true },
    signingKeys: directory.signingKeys(reader),
    namespaceAssignments: directory.namespaceAssignments(reader),
  };
}
