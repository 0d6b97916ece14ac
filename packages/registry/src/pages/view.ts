import type { JsonObject } from '@gantry/protocol';
import type { PackSummary, PublishedVersion } from '../catalogue/catalogue.ts';
import type { PublishedAdvisory } from '../derived/advisory.ts';
import type { RegistryProfile, SigningKeyEntry } from '../derived/discovery.ts';
import type { PackFiles } from './pack-files.ts';

/** Everything that the page of a version shows. */
export interface PackView {
  readonly profile: RegistryProfile;
  readonly summary: PackSummary;
  readonly version: PublishedVersion;
  /** Newest first, including this one. */
  readonly versions: readonly PublishedVersion[];
  readonly files: PackFiles;
  /** The key that signed the version. */
  readonly signingKey: SigningKeyEntry | undefined;
  /** Advisories that affect this version. */
  readonly advisories: readonly PublishedAdvisory[];
}

export const manifestOf = (view: PackView): JsonObject => view.version.manifest;
