export { type Extraction, type ExtractOptions, extractArchive, PARTIAL } from './archive/extract-archive.ts';
export type { ByteSource } from './archive/gunzip.ts';
export { type IgnoreRules, readIgnore } from './archive/ignore.ts';
export { ARCHIVE_LIMITS, type ArchiveLimits, MANIFEST_BYTES_MAX } from './archive/limits.ts';
export { isFilePath, normalizePath } from './archive/path.ts';
export { type Archive, eachFile, readArchive } from './archive/read-archive.ts';
export { archiveOf, type WrittenArchive, writeArchive } from './archive/write-archive.ts';
export {
  type InstallJudgement,
  judgeInstall,
  type Refusal,
  refusalError,
  requiresOf,
} from './install/install-gate.ts';
export { capabilityName, type HostOffer } from './install/offer.ts';
export { judgePeers, type PeerJudgement } from './install/peer-dependencies.ts';
export {
  describePermission,
  type GrantDifference,
  grantDifference,
  PERMISSIONS,
  unmetRequirements,
} from './install/permission.ts';
export {
  fetchLocked,
  type InstallPlan,
  type InstallStep,
  installPlan,
} from './lock/install-plan.ts';
export { lockOf } from './lock/lock-of.ts';
export {
  LOCKFILE_NAME,
  type LockedPack,
  type PackLock,
  readLock,
  writeLock,
} from './lock/lockfile.ts';
export { type OutdatedPack, outdated, permissionDifference } from './lock/outdated.ts';
export type { AgentManifest } from './manifest/agent.ts';
export type { ArtifactType } from './manifest/artifact-type.ts';
export type { Card } from './manifest/card.ts';
export type { Provider } from './manifest/connection.ts';
export type { Signing } from './manifest/fields.ts';
export { checkFiles, type FileIssue } from './manifest/files.ts';
export type { UiPlugin } from './manifest/frontend-plugin.ts';
export type { ManifestIssue } from './manifest/issue.ts';
export { type JsonSource, type Place, readJsonSource } from './manifest/json-source.ts';
export { PACK_KINDS, type PackKind, type PackManifest } from './manifest/kinds.ts';
export type { NodePackManifest, PackNode } from './manifest/node.ts';
export type { PromptTemplate } from './manifest/prompt.ts';
export { type ManifestReading, readManifest } from './manifest/read-manifest.ts';
export {
  covers,
  RUNTIME_REQUIREMENTS,
  type Runtime,
  type RuntimeLanguage,
  type RuntimeRequirement,
} from './manifest/runtime.ts';
export { type Keychain, readDiscovery, readKeychain } from './registry/documents.ts';
export { type FetchedPack, type FetchOptions, fetchPack, judgeFetched } from './registry/fetch-pack.ts';
export { type FolderRegistryOptions, openFolderRegistry } from './registry/folder-registry.ts';
export { type HttpRegistryOptions, openHttpRegistry } from './registry/http-registry.ts';
export {
  type FoundIndex,
  type FoundManifest,
  Registries,
  type RegistriesOptions,
} from './registry/registries.ts';
export {
  type CopyableRegistry,
  type IndexedVersion,
  isPackName,
  type PackIndex,
  type Registry,
  type RegistryDocument,
  type VersionManifest,
} from './registry/registry.ts';
export { installOrder } from './resolve/install-order.ts';
export {
  type Resolution,
  type ResolvedPack,
  type ResolveOptions,
  type Root,
  resolvePacks,
} from './resolve/resolve.ts';
export { openRegistryTree, type RegistryTree } from './sweep/registry-tree.ts';
export { sampleFor, sampleOf } from './sweep/sample.ts';
export { type SweepSummary, summarize } from './sweep/summary.ts';
export {
  type NodeTypeResult,
  type SweepOptions,
  type SweepRow,
  type SweptPack,
  sweepRegistry,
} from './sweep/sweep.ts';
export { type AdvisoryFeed, exposures, readAdvisories, SecurityAdvisory } from './trust/advisory.ts';
export { readPublicKey, signEd25519, verifyEd25519 } from './trust/ed25519.ts';
export { INTEGRITY, integrityOf } from './trust/integrity.ts';
export {
  judgeTrust,
  type RegistryRecord,
  type TrustJudgement,
  type TrustQuestion,
} from './trust/judge-trust.ts';
export {
  isRotationProved,
  isValidAt,
  judgeKeychain,
  type KeychainJudgement,
  type KeychainKey,
  keyIdOf,
  permits,
  type TrustedKey,
} from './trust/keys.ts';
export type { AllowedPack, PackPin, TrustPolicy } from './trust/policy.ts';
export {
  judgeSignature,
  type SignatureJudgement,
  type SignedPack,
  TRUST_LEVELS,
  type Trust,
  type TrustLevel,
} from './trust/signature.ts';
export type { SigstoreIdentity, SigstoreTrust, TrustedSigner } from './trust/sigstore.ts';
export { compareVersions } from './version-order.ts';
export { readChain, WorkflowChain } from './workflow-chain/chain.ts';
export { checkChain } from './workflow-chain/check-chain.ts';
export { expandDeferred } from './workflow-chain/deferred.ts';
export { type ChainExpansion, type ExpandOptions, expandChain } from './workflow-chain/expand.ts';
export { type Instance, type InstantiateOptions, instantiateChain } from './workflow-chain/instantiate.ts';
export { definitionFromChain, intoDefinition } from './workflow-chain/into-definition.ts';
export type { CompileSchema, SchemaIssue } from './workflow-chain/parameters.ts';
export { type PackedChain, SUB_CHAIN_DEPTH_MAX } from './workflow-chain/sub-chains.ts';
