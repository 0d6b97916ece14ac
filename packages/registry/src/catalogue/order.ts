import semver from 'semver';
import type { PublishedVersion } from './catalogue.ts';

/** Newest first. Build metadata counts too, so that the order is total. */
export const newestFirst = (versions: readonly PublishedVersion[]): PublishedVersion[] =>
  versions.toSorted((left, right) => semver.compareBuild(right.version, left.version));

/**
 * The version to use when none is named: releases before prereleases, deprecated ones last, a yanked one only if
 * there is no other. Expects the newest first.
 */
export function latestOf(versions: readonly PublishedVersion[]): PublishedVersion | undefined {
  const offered = versions.filter(({ yank }) => yank === undefined);
  const released = offered.filter(({ version }) => semver.prerelease(version) === null);
  return (
    released.find(({ deprecation }) => deprecation === undefined) ?? released[0] ?? offered[0] ?? versions[0]
  );
}
