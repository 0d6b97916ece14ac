import semver from 'semver';

/** Below zero when the left one comes first (SemVer, item 11). Build metadata counts for nothing. */
export const compareVersions = (left: string, right: string): number => semver.compare(left, right);
