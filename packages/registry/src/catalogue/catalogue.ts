/** The published packs. The packs and the test namespace are separate catalogues. */
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

/** Kept for audits, even if the version is yanked. */
export interface Provenance {
  readonly publishedAt: string;
  /** The key's id and name; never its secret. */
  readonly publishedBy: { readonly keyId: string; readonly name: string };
  readonly userAgent?: string;
  /** The build environment, as stated by the publisher. */
  readonly build?: JsonObject;
}

export interface PublishedVersion {
  readonly name: string;
  readonly version: string;
  readonly kind: PackKind;
  readonly integrity: string;
  readonly archiveBytes: number;
  /** pack.json as in the archive. */
  readonly manifest: JsonObject;
  readonly signing: {
    readonly method: SigningMethod;
    readonly keyId?: string;
    /** Result of the check at publish time, with the keys known then. */
    readonly state: 'verified' | 'unverifiable' | 'unsigned';
    /** What a verified signature covers, and its signer. Set if the state is `verified`. */
    readonly covers?: SignatureCovers;
    readonly signedBy?: string;
  };
  /** Detached signature, base64, served as `.sig`. */
  readonly signature?: string;
  /** Paths of the files in the archive, sorted. */
  readonly files: readonly string[];
  readonly deprecation?: Deprecation;
  readonly yank?: Yank;
  /** Yanks that were reverted. */
  readonly revertedYanks: readonly (Yank & { readonly revertedAt: string; readonly revertedBy: string })[];
  readonly provenance: Provenance;
}

/** The service that a connector pack integrates with. */
export interface ConnectorFacet {
  readonly id: string;
  readonly displayName: string;
  /** Absent if its actions need no sign-in. */
  readonly authType?: string;
  readonly actions: readonly { readonly typeId: string; readonly displayName: string }[];
}

/** The summary of a pack for lists and searches, kept in memory. Describes the version that `latestOf` selects. */
export interface PackSummary {
  readonly name: string;
  readonly kind: PackKind;
  readonly latest: string;
  readonly description: string;
  readonly license: string;
  readonly author: string;
  readonly tags: readonly string[];
  /** As counted in the index: node types and agents, chains, templates, cards, artifact types, or the provider. */
  readonly typeIds: readonly string[];
  readonly nodeCount: number;
  readonly agentCount: number;
  readonly connector?: ConnectorFacet;
  readonly versionCount: number;
  readonly publishedAt: string;
  readonly deprecated: boolean;
  readonly yanked: boolean;
}

export interface Catalogue {
  readonly name: CatalogueName;
  /** Grows with every change; the cache key of derived documents. */
  readonly revision: number;
  /** By name. */
  summaries(): readonly PackSummary[];
  summary(name: string): PackSummary | undefined;
  /** Newest first, by semver; empty for an unknown pack. */
  versions(name: string): Promise<readonly PublishedVersion[]>;
  version(name: string, version: string): Promise<PublishedVersion | undefined>;
  archive(version: Pick<PublishedVersion, 'integrity'>): AsyncIterable<Uint8Array>;
  /** One file of an archive, bounded in size; undefined if there is no such file. */
  file(version: Pick<PublishedVersion, 'integrity'>, path: string): Promise<Buffer | undefined>;
}
