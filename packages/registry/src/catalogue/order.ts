import semver from 'semver';
import type { PublishedVersion } from './catalogue.ts';

/** Newest first; versions that differ only in their build are ordered too, so that the order is always the same. */
export const newestFirst = (versions: readonly PublishedVersion[]): PublishedVersion[] =>
  versions.toSorted((left, right) => semver.compareBuild(right.version, left.version));

/**
 * The version to offer to whoever names none: released before prerelease, in good standing before deprecated.
 * A yanked one only when nothing else is left. Expects the newest first.
 */
export function latestOf(versions: readonly PublishedVersion[]): PublishedVersion | undefined {
  const offered = versions.filter(({ yank }) => yank === undefined);
  const released = offered.filter(({ version }) => semver.prerelease(version) === null);
  return (
    released.find(({ deprecation }) => deprecation === undefined) ?? released[0] ?? offered[0] ?? versions[0]
  );
}
