import { given } from '@gantry/protocol';
import semver from 'semver';
import type { IndexedVersion } from '../registry/registry.ts';

/** A parsed range. */
export interface Range {
  readonly text: string;
  readonly range: semver.Range;
  /** The version of an exact pin. */
  readonly exact?: string;
}

const RANGE_LENGTH_MAX = 256;

/** Undefined for text that is not a range. */
export function readRange(text: string): Range | undefined {
  if (text.length > RANGE_LENGTH_MAX) return undefined;
  try {
    const range = new semver.Range(text);
    return { text, range, ...given({ exact: pinOf(range) }) };
  } catch {
    return undefined;
  }
}

function pinOf({ set }: semver.Range): string | undefined {
  const [comparator, ...more] = set.length === 1 ? (set[0] ?? []) : [];
  if (comparator === undefined || more.length > 0 || comparator.operator !== '') return undefined;
  return comparator.value === '' ? undefined : comparator.semver.version;
}

/** A version of the index, parsed once. */
export interface Candidate extends IndexedVersion {
  readonly semver: semver.SemVer;
}

/** Build metadata is the last criterion, so that the order never depends on the registry. */
const highestFirst = (left: Candidate, right: Candidate): number =>
  right.semver.compare(left.semver) || right.semver.compareBuild(left.semver);

export function candidatesOf(versions: readonly IndexedVersion[]): Candidate[] {
  const byVersion = new Map(versions.map((entry) => [entry.version, entry]));
  return [...byVersion.values()]
    .map((entry) => ({ ...entry, semver: new semver.SemVer(entry.version) }))
    .sort(highestFirst);
}

/**
 * Whether a request may get this version. Prereleases match only if the range names one (npm's rule). A withdrawn
 * version matches only an exact request: a range never gets one, not even next to the pin of another request.
 */
export const suits = ({ range, exact }: Range, candidate: Candidate): boolean =>
  range.test(candidate.semver) && (candidate.yanked === undefined || exact !== undefined);

/** Negative if the left one is lower (SemVer, item 11). Build metadata is ignored. */
export const compareVersions = (left: string, right: string): number => semver.compare(left, right);

/** The highest version in a range; undefined if there is none, or the text is not a range. */
export const highestIn = (versions: readonly string[], text: string): string | undefined => {
  const range = readRange(text)?.range;
  return (range && semver.maxSatisfying([...versions], range)) ?? undefined;
};
