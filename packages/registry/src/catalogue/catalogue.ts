/** What is published. One catalogue holds the packs; another, apart from it, the test namespace. */
import type { PackKind, SignatureCovers } from '@gantry/packs';
import type { JsonObject } from '@gantry/protocol';

export type CatalogueName = 'packs' | 'packs-test';

export type SigningMethod = 'manual' | 'ed25519' | 'sigstore' | 'none';

export interface Deprecation {
  readonly reason: string;
  readonly supersededBy?: string;
  readonly deprecatedAt: string;
  readonly deprecatedBy: string;
}

export interface Yank {
  readonly reason: string;
  readonly advisoryUrl?: string;
  readonly yankedAt: string;
  readonly yankedBy: string;
}

/** Who published, when, with what: kept for audits, whatever happens to the version. */
export interface Provenance {
  readonly publishedAt: string;
  /** The key's id and name; never its secret. */
  readonly publishedBy: { readonly keyId: string; readonly name: string };
  readonly userAgent?: string;
  /** What the publisher says of its build environment. */
  readonly build?: JsonObject;
}

export interface PublishedVersion {
  readonly name: string;
  readonly version: string;
  readonly kind: PackKind;
  readonly integrity: string;
  readonly archiveBytes: number;
  /** pack.json as it stands in the archive. */
  readonly manifest: JsonObject;
  readonly signing: {
    readonly method: SigningMethod;
    readonly keyId?: string;
    /** How the signature was judged at publish time, with the keys this registry knew then. */
    readonly state: 'verified' | 'unverifiable' | 'unsigned';
    /** What a verified signature proves, and whose it is. Absent in records of before. */
    readonly covers?: SignatureCovers;
    readonly signedBy?: string;
  };
  /** Detached signature, base64, served as `.sig`. */
  readonly signature?: string;
  /** Paths of files in the archive, sorted; at most as many as an archive may hold. */
  readonly files: readonly string[];
  readonly deprecation?: Deprecation;
  readonly yank?: Yank;
  /** Yanks that were taken back. */
  readonly revertedYanks: readonly (Yank & { readonly revertedAt: string; readonly revertedBy: string })[];
  readonly provenance: Provenance;
}

/** What lists and searches need of a pack, kept in memory: of its newest version that is not yanked, else its newest. */
export interface PackSummary {
  readonly name: string;
  readonly kind: PackKind;
  readonly latest: string;
  readonly description: string;
  readonly license: string;
  readonly author: string;
  readonly tags: readonly string[];
  /** As the index counts them: node types and agents, chains, templates, cards, artifact types, or the provider. */
  readonly typeIds: readonly string[];
  readonly nodeCount: number;
  readonly agentCount: number;
  readonly versionCount: number;
  readonly publishedAt: string;
  readonly deprecated: boolean;
  readonly yanked: boolean;
}

export interface Catalogue {
  readonly name: CatalogueName;
  /** Grows with every change; what is derived from the catalogue is cached by it. */
  readonly revision: number;
  /** By name. */
  summaries(): readonly PackSummary[];
  summary(name: string): PackSummary | undefined;
  /** Newest first, by semver; empty for an unknown pack. */
  versions(name: string): Promise<readonly PublishedVersion[]>;
  version(name: string, version: string): Promise<PublishedVersion | undefined>;
  archive(version: Pick<PublishedVersion, 'integrity'>): AsyncIterable<Uint8Array>;
  /** One file of an archive, bounded in size; undefined when it is not there. */
  file(version: Pick<PublishedVersion, 'integrity'>, path: string): Promise<Buffer | undefined>;
}
