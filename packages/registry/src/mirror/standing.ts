/** Whether a version is withdrawn or replaced, carried over from the registry it comes from. Pure. */
import { exposures, type IndexedVersion, type SecurityAdvisory } from '@gantry/packs';
import Type, { type Static } from 'typebox';
import { Check } from 'typebox/value';
import type { Deprecation, PublishedVersion, Yank } from '../catalogue/catalogue.ts';

const REASON_LENGTH_MAX = 512;
const NO_REASON = 'The registry that it comes from gives no reason.';

const Words = Type.Optional(Type.Union([Type.String({ maxLength: 4_096 }), Type.Null()]));
const Time = Type.Optional(Type.String({ maxLength: 64 }));
/** Static registries write it flat into the manifest of the version, others nested into the index of the pack. */
const Details = Type.Object({
  yanked: Type.Optional(Type.Unknown()),
  yankedReason: Words,
  advisoryUrl: Words,
  deprecationReason: Words,
  supersededBy: Words,
  deprecation: Type.Optional(Type.Object({ reason: Words, supersededBy: Words, deprecatedAt: Time })),
});
const YankDetails = Type.Object({ reason: Words, advisoryUrl: Words, yankedAt: Time });
const Metadata = Type.Object({ versions: Type.Record(Type.String(), Type.Unknown()) });

export interface Standing {
  readonly yank?: Pick<Yank, 'reason' | 'advisoryUrl'> & { readonly yankedAt?: string };
  readonly deprecation?: Pick<Deprecation, 'reason' | 'supersededBy'> & { readonly deprecatedAt?: string };
}

export interface StandingDocuments {
  readonly indexed: IndexedVersion;
  /** The manifest of the version and the index of the pack, as they are served. */
  readonly manifest: unknown;
  readonly metadata: unknown;
}

/** What an advisory is about counts as withdrawn, as everywhere in this registry. */
export function standingOf(
  name: string,
  { indexed, manifest, metadata }: StandingDocuments,
  advisories: readonly SecurityAdvisory[],
): Standing {
  const nested = Check(Metadata, metadata) ? metadata.versions[indexed.version] : undefined;
  const details = [manifest, nested].map((document) => (Check(Details, document) ? document : {}));
  const yank = yankOf(indexed, details) ?? yankFor(name, indexed, advisories);
  const deprecation = deprecationOf(indexed, details);
  return { ...(yank && { yank }), ...(deprecation && { deprecation }) };
}

type Details = Static<typeof Details>;

function yankOf({ yanked }: IndexedVersion, details: readonly Details[]): Standing['yank'] {
  if (yanked === undefined) return undefined;
  const nested = details.flatMap((detail) => (Check(YankDetails, detail.yanked) ? [detail.yanked] : []));
  const advisoryUrl = first([...details, ...nested].map((detail) => detail.advisoryUrl));
  const yankedAt = nested.map((detail) => detail.yankedAt).find(isTime);
  const told = [yanked.reason, ...details.map((detail) => detail.yankedReason), ...nested.map(reasonIn)];
  return {
    reason: reasonOf(told),
    ...(advisoryUrl?.startsWith('https://') && { advisoryUrl }),
    ...(yankedAt !== undefined && { yankedAt }),
  };
}

function yankFor(
  name: string,
  { version }: IndexedVersion,
  advisories: readonly SecurityAdvisory[],
): Standing['yank'] {
  const [found] = exposures({ name, version }, advisories);
  return found && { reason: reasonOf([`${found.advisory.id}: ${found.advisory.summary}`]) };
}

function deprecationOf({ deprecated }: IndexedVersion, details: readonly Details[]): Standing['deprecation'] {
  if (deprecated === undefined) return undefined;
  const nested = details.flatMap(({ deprecation }) => deprecation ?? []);
  const supersededBy =
    deprecated.supersededBy ?? first([...details, ...nested].map((detail) => detail.supersededBy));
  const deprecatedAt = nested.map((detail) => detail.deprecatedAt).find(isTime);
  const told = [
    deprecated.reason,
    ...details.map((detail) => detail.deprecationReason),
    ...nested.map(reasonIn),
  ];
  return {
    reason: reasonOf(told),
    ...(supersededBy !== undefined && { supersededBy: supersededBy.slice(0, 256) }),
    ...(deprecatedAt !== undefined && { deprecatedAt }),
  };
}

const reasonIn = ({ reason }: { readonly reason?: string | null }): string | null | undefined => reason;

export const isTime = (text: string | undefined): text is string => !Number.isNaN(Date.parse(text ?? ''));

const first = (texts: readonly (string | null | undefined)[]): string | undefined =>
  texts.find((text) => typeof text === 'string' && text !== '') ?? undefined;

const reasonOf = (texts: readonly (string | null | undefined)[]): string =>
  (first(texts) ?? NO_REASON).slice(0, REASON_LENGTH_MAX);

/** Who is on record for what a mirror carried over; so it takes back nothing that somebody did here. */
export const mirrorOf = (source: string): string => `mirror of ${source}`;

export interface StandingChange {
  readonly type: 'yanked' | 'yank-reverted' | 'deprecated' | 'undeprecated';
  readonly published: PublishedVersion;
}

/** The version as it should stand now; undefined when it does already. */
export function withStanding(
  published: PublishedVersion,
  standing: Standing,
  { source, now }: { readonly source: string; readonly now: number },
): StandingChange | undefined {
  const by = mirrorOf(source);
  const at = new Date(now).toISOString();
  const yanked = withYank(published, standing.yank, by, at);
  const deprecated = withDeprecation(yanked?.published ?? published, standing.deprecation, by, at);
  return deprecated === undefined
    ? yanked
    : { type: yanked?.type ?? deprecated.type, published: deprecated.published };
}

function withYank(
  published: PublishedVersion,
  yank: Standing['yank'],
  by: string,
  at: string,
): StandingChange | undefined {
  const { yank: before, ...rest } = published;
  if (before !== undefined && before.yankedBy !== by) return undefined;
  if (yank === undefined) {
    if (before === undefined) return undefined;
    const reverted = { ...before, revertedAt: at, revertedBy: by };
    return {
      type: 'yank-reverted',
      published: { ...rest, revertedYanks: [...published.revertedYanks, reverted] },
    };
  }
  if (before?.reason === yank.reason && before.advisoryUrl === yank.advisoryUrl) return undefined;
  const yankedAt = yank.yankedAt ?? before?.yankedAt ?? at;
  return { type: 'yanked', published: { ...published, yank: { ...yank, yankedAt, yankedBy: by } } };
}

function withDeprecation(
  published: PublishedVersion,
  deprecation: Standing['deprecation'],
  by: string,
  at: string,
): StandingChange | undefined {
  const { deprecation: before, ...rest } = published;
  if (before !== undefined && before.deprecatedBy !== by) return undefined;
  if (deprecation === undefined)
    return before === undefined ? undefined : { type: 'undeprecated', published: rest };
  if (before?.reason === deprecation.reason && before.supersededBy === deprecation.supersededBy)
    return undefined;
  const deprecatedAt = deprecation.deprecatedAt ?? before?.deprecatedAt ?? at;
  return {
    type: 'deprecated',
    published: { ...published, deprecation: { ...deprecation, deprecatedAt, deprecatedBy: by } },
  };
}
