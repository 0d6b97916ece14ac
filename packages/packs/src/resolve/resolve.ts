import { type ErrorCode, invalid, isObject, type JsonObject, OpenwopError } from '@gantry/protocol';
import type { Registries } from '../registry/registries.ts';
import { checkAsked, quoted, type VersionManifest } from '../registry/registry.ts';
import { describeDeprecated, describeYanked } from '../trust/judge-trust.ts';
import { type Range, readRange } from './range.ts';
import { type InstalledVersion, KnownPacks, type Request, Settling } from './settle.ts';

export interface Root {
  readonly name: string;
  readonly range: string;
  /** The source of the request, as named by the caller: a workflow, a setting. */
  readonly requestedBy: string;
}

/** A version with its served manifest; its dependencies are exact versions by name. */
export interface ResolvedPack extends VersionManifest {
  /** The address of its registry. */
  readonly registry: string;
  readonly requestedBy: readonly { readonly requestedBy: string; readonly range: string }[];
  /** A request names exactly this version, so a withdrawn one is a warning and not an error. */
  readonly isExact: boolean;
}

export interface Resolution {
  /** By name. */
  readonly packs: readonly ResolvedPack[];
  /** Dependencies whose installed version stays, by name. */
  readonly kept: readonly { readonly name: string; readonly version: string }[];
  readonly overrides: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
}

export interface ResolveOptions {
  readonly roots: readonly Root[];
  /** Exact versions that have precedence over every range. */
  readonly overrides?: Readonly<Record<string, string>>;
  /** Resolves as if these were the only versions of their packs; every range still applies. */
  readonly pins?: ReadonlyMap<string, string>;
  /** Installed packs, which have requests too, by name. */
  readonly installed?: ReadonlyMap<string, InstalledVersion>;
  readonly registries: Registries;
}

const ROOTS_MAX = 10_000;

/**
 * Chooses one version for every pack that is reachable from the roots, by the rules in `settle.ts`, or throws the
 * reason why not.
 */
export const resolvePacks = (options: ResolveOptions): Promise<Resolution> =>
  resolve(new KnownPacks(options.registries), options);

async function resolve(known: KnownPacks, options: ResolveOptions): Promise<Resolution> {
  const { roots, overrides = {}, pins = new Map(), installed = new Map() } = options;
  for (const [name, version] of Object.entries(overrides)) checkAsked(name, version);
  const settling = new Settling(known, { overrides: new Map(Object.entries(overrides)), pins, installed });
  if (roots.length > ROOTS_MAX) throw invalid(`More than ${ROOTS_MAX} packs are requested.`);
  for (const root of roots.toSorted(byNameThenRequester))
    settling.request(root.name, { range: rangeOf(root), requestedBy: root.requestedBy });
  const chosen = await settling.run();
  const names = [...chosen.keys()].sort();
  const kept = names.filter((name) => settling.isKept(name));
  const packs = names.flatMap((name) => {
    if (kept.includes(name)) return [];
    const pack = resolvedPack(name, chosen, settling.requestsFor(name), known);
    return Object.hasOwn(overrides, name) ? { ...pack, isExact: true } : pack;
  });
  return {
    packs,
    kept: kept.map((name) => ({ name, version: chosen.get(name) ?? '' })),
    overrides,
    warnings: packs.flatMap((pack) => warningsOf(pack)),
  };
}

const MISFITS: readonly ErrorCode[] = [
  'pack_dependency_conflict',
  'pack_dependency_cycle',
  'pack_version_not_found',
];
/** After this many attempts all pins are dropped: each attempt resolves everything. */
const TRIES_MAX = 20;

/** Resolves with the pins. Pins that prevent a resolution are dropped one by one. */
export async function resolveNear(options: ResolveOptions): Promise<Resolution> {
  const { overrides = {} } = options;
  const known = new KnownPacks(options.registries);
  const pins = new Map([...(options.pins ?? [])].filter(([name]) => !Object.hasOwn(overrides, name)));
  for (let tries = 1; ; tries++) {
    try {
      return await resolve(known, { ...options, pins });
    } catch (error) {
      if (pins.size === 0 || !(error instanceof OpenwopError) || !MISFITS.includes(error.code)) throw error;
      const obstacles = tries < TRIES_MAX ? obstaclesIn(error.details ?? {}, pins) : [];
      for (const name of obstacles) pins.delete(name);
      if (obstacles.length === 0) pins.clear();
    }
  }
}

/** The pack with the conflict; if it is not pinned, the pinned packs that require it. */
function obstaclesIn(
  { packName = '', requestedBy = '', conflictingRanges = [] }: JsonObject,
  pins: ReadonlyMap<string, string>,
): string[] {
  const ranges = Array.isArray(conflictingRanges) ? conflictingRanges.filter(isObject) : [];
  const askers = [requestedBy, ...ranges.map((range) => range.requestedBy)];
  const names = askers.map((asker) => String(asker).split('@', 1)[0] ?? '');
  return (pins.has(String(packName)) ? [String(packName)] : names).filter((name) => pins.has(name));
}

const compare = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);
const byNameThenRequester = (left: Root, right: Root): number =>
  compare(left.name, right.name) ||
  compare(left.requestedBy, right.requestedBy) ||
  compare(left.range, right.range);

function rangeOf({ name, range: text, requestedBy }: Root): Range {
  checkAsked(name);
  const range = readRange(text);
  if (range !== undefined) return range;
  throw new OpenwopError('pack_version_not_found', {
    message: `${requestedBy} asks for ${name} with ${quoted(text)}, which is not a version range. Write one such as ^1.2.0.`,
    details: { packName: name, range: text.slice(0, 256), requestedBy, available: [] },
  });
}

function resolvedPack(
  name: string,
  chosen: ReadonlyMap<string, string>,
  requests: readonly Request[],
  known: KnownPacks,
): ResolvedPack {
  const version = chosen.get(name) ?? '';
  const { registry, manifest } = known.manifest(name, version);
  const dependencies = Object.keys(manifest.dependencies).sort();
  return {
    ...manifest,
    registry: registry.url,
    dependencies: Object.fromEntries(dependencies.map((each) => [each, chosen.get(each) ?? ''])),
    requestedBy: requests.map(({ requestedBy, range }) => ({ requestedBy, range: range.text })),
    isExact: requests.some(({ range }) => range.exact !== undefined),
  };
}

function warningsOf({ name, version, record: { yanked, deprecated } }: ResolvedPack): string[] {
  return [
    ...(yanked ? [`${describeYanked(yanked)}. It is used since it is pinned exactly.`] : []),
    ...(deprecated ? [`${describeDeprecated(deprecated)}.`] : []),
  ].map((text) => `${name}@${version} ${text}`);
}
