import type { JsonObject } from '@gantry/protocol';
import type { PackSummary, PublishedVersion } from '../catalogue/catalogue.ts';
import type { PublishedAdvisory } from '../derived/advisory.ts';
import type { RegistryProfile, SigningKeyEntry } from '../derived/discovery.ts';
import type { PackFiles } from './pack-files.ts';

/** All that the page of one version shows. */
export interface PackView {
  readonly profile: RegistryProfile;
  readonly summary: PackSummary;
  readonly version: PublishedVersion;
  /** Newest first, this one among them. */
  readonly versions: readonly PublishedVersion[];
  readonly files: PackFiles;
  /** The key that signed, as the registry knows it. */
  readonly signingKey: SigningKeyEntry | undefined;
  /** Those that are about this version. */
  readonly advisories: readonly PublishedAdvisory[];
}

export const manifestOf = (view: PackView): JsonObject => view.version.manifest;
