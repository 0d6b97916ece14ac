export { extractArchive, PARTIAL } from './archive/extract-archive.ts';
export { unpublishable } from './archive/ignore.ts';
export { ARCHIVE_LIMITS, type ArchiveLimits } from './archive/limits.ts';
export { isFilePath, normalizePath } from './archive/path.ts';
export * from './archive/read-archive.ts';
export * from './archive/write-archive.ts';
export * from './install/install-gate.ts';
export type { HostOffer } from './install/peer-dependencies.ts';
export * from './install/permission.ts';
export * from './lock/install-plan.ts';
export { lockOf } from './lock/lock-of.ts';
export * from './lock/lockfile.ts';
export { type OutdatedPack, outdated } from './lock/outdated.ts';
export { type ArtifactType, PromptTemplate, type Provider } from './manifest/declarative.ts';
export { ReverseDns as PACK_NAME, type Signing } from './manifest/fields.ts';
export type { ManifestIssue } from './manifest/issue.ts';
export { type Position, readJsonSource } from './manifest/json-source.ts';
export { PACK_KINDS, type PackKind, type PackManifest } from './manifest/kinds.ts';
export {
  covers,
  type NodePackManifest,
  OPERATOR_REQUIREMENT,
  RUNTIME_REQUIREMENTS,
} from './manifest/node.ts';
export { readManifest } from './manifest/read-manifest.ts';
export { checkFiles } from './manifest/rules.ts';
export * from './manifest/source.ts';
export { type Keychain, readDiscovery } from './registry/documents.ts';
export { type FetchedPack, fetchPack, judgeFetched } from './registry/fetch-pack.ts';
export * from './registry/open-registry.ts';
export { Registries } from './registry/registries.ts';
export type { CopyableRegistry, Registry } from './registry/registry.ts';
export { installOrder } from './resolve/install-order.ts';
export { compareVersions, highestIn, readRange } from './resolve/range.ts';
export * from './resolve/resolve.ts';
export type { InstalledVersion } from './resolve/settle.ts';
export * from './scan/called-surfaces.ts';
export { exposures, SecurityAdvisory } from './trust/advisory.ts';
export * from './trust/file-list.ts';
export * from './trust/judge-trust.ts';
export * from './trust/keys.ts';
export type { PackPin, TrustPolicy } from './trust/policy.ts';
export { judgeSignature, type SignatureJudgement, signedPack } from './trust/signature.ts';
export * from './trust/trust-file.ts';
export { readChain, WorkflowChain } from './workflow-chain/chain.ts';
export * from './workflow-chain/expand.ts';
export { definitionFromChain } from './workflow-chain/into-definition.ts';
export type { CompileSchema } from './workflow-chain/parameters.ts';
export { instantiateChain, type PackedChain } from './workflow-chain/sub-chains.ts';
