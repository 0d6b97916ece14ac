import semver from 'semver';
import Type, { type Static } from 'typebox';
import { Check } from 'typebox/schema';

const Affected = Type.Object({
  packName: Type.String({ minLength: 1, maxLength: 256 }),
  versions: Type.String({ minLength: 1, maxLength: 256 }),
  fixedIn: Type.Optional(Type.String({ maxLength: 128 })),
  fixedInRef: Type.Optional(Type.String({ maxLength: 512 })),
});

/** Open: additions of a newer feed must not hide the warning. */
export const SecurityAdvisory = Type.Object({
  id: Type.String({ pattern: '^OPENWOP-[0-9]{4}-[0-9]{4}$' }),
  publishedAt: Type.String({ maxLength: 64 }),
  severity: Type.Enum(['critical', 'high', 'medium', 'low']),
  summary: Type.String({ minLength: 1, maxLength: 200 }),
  affected: Type.Array(Affected, { minItems: 1, maxItems: 200 }),
});
export type SecurityAdvisory = Static<typeof SecurityAdvisory>;

const Feed = Type.Object({ advisories: Type.Array(Type.Unknown(), { maxItems: 10_000 }) });

/** `unreadable` entries are counted, so that a reader can report them. */
export function readAdvisories(feed: unknown): {
  advisories: readonly SecurityAdvisory[];
  unreadable: number;
} {
  if (!Check(Feed, feed)) return { advisories: [], unreadable: 1 };
  const advisories = feed.advisories.filter((entry) => Check(SecurityAdvisory, entry));
  return { advisories, unreadable: feed.advisories.length - advisories.length };
}

/** The advisories that affect a version, with the fixed versions. */
export const exposures = (
  { name, version }: { readonly name: string; readonly version: string },
  advisories: readonly SecurityAdvisory[],
) =>
  advisories.flatMap((advisory) =>
    advisory.affected
      .filter(({ packName, versions }) => packName === name && isAffected(version, versions))
      .map(({ fixedIn }) => ({ advisory, fixedIn })),
  );

/** A range that cannot be parsed covers every version. */
const isAffected = (version: string, versions: string): boolean =>
  semver.validRange(versions) === null || semver.satisfies(version, versions, { includePrerelease: true });
