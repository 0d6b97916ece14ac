/** Changes to a version after it was published, as pure functions of its state. */
import { given, isoTime, OpenwopError } from '@gantry/protocol';
import type { Deprecation, PublishedVersion, Yank } from '../catalogue/catalogue.ts';
import type { VersionDecision } from '../catalogue/store-catalogue.ts';
import type { VersionState } from '../catalogue/version-entry.ts';

/** Short enough that few users can depend on the version yet. */
const UNPUBLISH_WINDOW_MS = 72 * 3_600_000;

export interface Act {
  /** Id of the key. */
  readonly by: string;
  readonly now: number;
}

type Decide<T> = (state: VersionState | undefined) => VersionDecision<T>;
type Marked = VersionDecision<PublishedVersion>;

const publishedOf = (state: VersionState | undefined): PublishedVersion => {
  if (state?.state === 'published') return state.published;
  throw new OpenwopError('not_found', { message: 'The version is not published.' });
};

const keep = (published: PublishedVersion): Marked => ({ kind: 'keep', result: published });

const write = (
  type: 'deprecated' | 'undeprecated' | 'yanked' | 'yank-reverted',
  published: PublishedVersion,
): Marked => ({
  kind: 'write',
  type,
  state: { state: 'published', published },
  result: published,
});

/** A repeated call replaces the reason; `deprecatedAt` stays. */
export const deprecate =
  (
    { reason, supersededBy }: Pick<Deprecation, 'reason' | 'supersededBy'>,
    { by, now }: Act,
  ): Decide<PublishedVersion> =>
  (state) => {
    const published = publishedOf(state);
    const before = published.deprecation;
    if (before?.reason === reason && before.supersededBy === supersededBy) return keep(published);
    const deprecation: Deprecation = {
      reason,
      ...given({ supersededBy }),
      deprecatedAt: before?.deprecatedAt ?? isoTime(now),
      deprecatedBy: before?.deprecatedBy ?? by,
    };
    return write('deprecated', { ...published, deprecation });
  };

export const undeprecate = (): Decide<PublishedVersion> => (state) => {
  const published = publishedOf(state);
  if (published.deprecation === undefined) return keep(published);
  const { deprecation: _, ...rest } = published;
  return write('undeprecated', rest);
};

export const yank =
  (
    { reason, advisoryUrl }: Pick<Yank, 'reason' | 'advisoryUrl'>,
    { by, now }: Act,
  ): Decide<PublishedVersion> =>
  (state) => {
    const published = publishedOf(state);
    const before = published.yank;
    // The first reason is kept; an advisory may be added
    if (before && (advisoryUrl === undefined || before.advisoryUrl === advisoryUrl)) return keep(published);
    const mark: Yank = {
      ...(before ?? { reason, yankedAt: isoTime(now), yankedBy: by }),
      ...given({ advisoryUrl }),
    };
    return write('yanked', { ...published, yank: mark });
  };

/** The yank stays on record, with its end time. */
export const revertYank =
  ({ by, now }: Act): Decide<PublishedVersion> =>
  (state) => {
    const published = publishedOf(state);
    const { yank: before, ...rest } = published;
    if (before === undefined) return keep(published);
    const reverted = { ...before, revertedAt: isoTime(now), revertedBy: by };
    return write('yank-reverted', { ...rest, revertedYanks: [...published.revertedYanks, reverted] });
  };

/** Unpublishing again changes nothing. */
export const unpublish =
  ({ by, now }: Act): Decide<void> =>
  (state) => {
    if (state?.state === 'unpublished') return { kind: 'keep', result: undefined };
    const { integrity, provenance } = publishedOf(state);
    if (now - Date.parse(provenance.publishedAt) > UNPUBLISH_WINDOW_MS)
      throw new OpenwopError('unpublish_window_expired', {
        details: { publishedAt: provenance.publishedAt, windowHours: UNPUBLISH_WINDOW_MS / 3_600_000 },
      });
    return {
      kind: 'write',
      type: 'unpublished',
      state: { state: 'unpublished', integrity, unpublishedAt: isoTime(now), unpublishedBy: by },
      result: undefined,
    };
  };
