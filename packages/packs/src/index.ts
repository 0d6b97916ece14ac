export { extractArchive, PARTIAL } from './archive/extract-archive.ts';
export { unpublishable } from './archive/ignore.ts';
export { ARCHIVE_LIMITS, type ArchiveLimits } from './archive/limits.ts';
export { isFilePath, normalizePath } from './archive/path.ts';
export { type Archive, eachFile, readArchive } from './archive/read-archive.ts';
export { archiveOf, type WrittenArchive, writeArchive } from './archive/write-archive.ts';
export {
  enginesProblem,
  type InstallJudgement,
  judgeInstall,
  type Refusal,
  refusalError,
  requiresOf,
} from './install/install-gate.ts';
export type { HostOffer } from './install/peer-dependencies.ts';
export { describePermission, grantDifference, unmetRequirements } from './install/permission.ts';
export {
  checkLocked,
  checkOverrides,
  fetchLocked,
  type InstallStep,
  installPlan,
  type LockedContent,
} from './lock/install-plan.ts';
export { lockOf } from './lock/lock-of.ts';
export {
  LOCKFILE_NAME,
  type LockedPack,
  type PackLock,
  readLock,
  writeLock,
} from './lock/lockfile.ts';
export { type OutdatedPack, outdated } from './lock/outdated.ts';
export type { Provider } from './manifest/connection.ts';
export { type ArtifactType, PromptTemplate } from './manifest/declarative.ts';
export { ReverseDns as PACK_NAME, type Signing } from './manifest/fields.ts';
export { checkFiles } from './manifest/files.ts';
export type { ManifestIssue } from './manifest/issue.ts';
export { readJsonSource } from './manifest/json-source.ts';
export { PACK_KINDS, type PackKind, type PackManifest } from './manifest/kinds.ts';
export type { NodePackManifest } from './manifest/node.ts';
export { readManifest } from './manifest/read-manifest.ts';
export { covers, RUNTIME_REQUIREMENTS } from './manifest/runtime.ts';
export { type Keychain, readDiscovery } from './registry/documents.ts';
export { type FetchedPack, fetchPack, judgeFetched } from './registry/fetch-pack.ts';
export { openFolderRegistry } from './registry/folder-registry.ts';
export { openHttpRegistry } from './registry/http-registry.ts';
export { isRegistryAddress, openRegistry, readMirrors, readRegistries } from './registry/open-registry.ts';
export { Registries } from './registry/registries.ts';
export type { CopyableRegistry, Registry } from './registry/registry.ts';
export { installOrder } from './resolve/install-order.ts';
export { compareVersions, highestIn, readRange } from './resolve/range.ts';
export {
  type Resolution,
  type ResolvedPack,
  type Root,
  resolveNear,
  resolvePacks,
} from './resolve/resolve.ts';
export type { InstalledVersion } from './resolve/settle.ts';
export {
  calledSurfaces,
  type SurfaceAsks,
  surfaceAsks,
  surfaceGrant,
} from './scan/called-surfaces.ts';
export { exposures, SecurityAdvisory } from './trust/advisory.ts';
export { readPublicKey, signEd25519 } from './trust/ed25519.ts';
export {
  detachedSigning,
  digestOf,
  FILE_LIST,
  FILE_LIST_FILES,
  FILE_LIST_SIGNATURE,
  type FileDigest,
  hasOtherFileList,
  MANIFEST_SIGNATURE,
  SIGNATURE_COVERS,
  type SignatureCovers,
  withFileList,
} from './trust/file-list.ts';
export { integrityOf } from './trust/integrity.ts';
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
  type KeychainKey,
  keyIdOf,
  permits,
  type TrustedKey,
} from './trust/keys.ts';
export type { PackPin, TrustPolicy } from './trust/policy.ts';
export { judgeSignature, type SignatureJudgement } from './trust/signature.ts';
export type { SigstoreIdentity, SigstoreTrust } from './trust/sigstore.ts';
export { readTrustFile, sameRegistry, type TrustFile, TrustFileError } from './trust/trust-file.ts';
export { readChain, WorkflowChain } from './workflow-chain/chain.ts';
export {
  type ChainExpansion,
  type ExpandOptions,
  expandChain,
  expandDeferred,
} from './workflow-chain/expand.ts';
export type { CompileSchema } from './workflow-chain/parameters.ts';
export type { PackedChain } from './workflow-chain/sub-chains.ts';
export { instantiateChain } from './workflow-chain/sub-chains.ts';
