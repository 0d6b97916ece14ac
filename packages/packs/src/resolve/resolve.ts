import { OpenwopError } from '@gantry/protocol';
import type { Signing } from '../manifest/fields.ts';
import type { Registries } from '../registry/registries.ts';
import { checkAsked, quoted } from '../registry/registry.ts';
import type { RegistryRecord } from '../trust/judge-trust.ts';
import { KnownPacks } from './known-packs.ts';
import { type Range, readRange } from './range.ts';
import { type Request, Settling } from './settle.ts';

export interface Root {
  readonly name: string;
  readonly range: string;
  /** What requests it, as the caller names it: a workflow, a setting. */
  readonly requestedBy: string;
}

export interface ResolvedPack {
  readonly name: string;
  readonly version: string;
  /** The address of the registry that it comes from. */
  readonly registry: string;
  readonly tarballUrl: string;
  readonly record: RegistryRecord;
  readonly signing?: Signing;
  /** Exact versions by name. */
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly requires: readonly string[];
  readonly requestedBy: readonly { readonly requestedBy: string; readonly range: string }[];
  /** A request names exactly this version, so a withdrawn one is a warning and not refused. */
  readonly isExact: boolean;
}

export interface Resolution {
  /** By name. */
  readonly packs: readonly ResolvedPack[];
  readonly overrides: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
}

export interface ResolveOptions {
  readonly roots: readonly Root[];
  /** Exact versions that beat every range. */
  readonly overrides?: Readonly<Record<string, string>>;
  readonly registries: Registries;
}

const ROOTS_MAX = 10_000;

/** Chooses one version for every pack that the roots lead to, by the rules in `settle.ts`, or says why it cannot. */
export async function resolvePacks({
  roots,
  registries,
  overrides = {},
}: ResolveOptions): Promise<Resolution> {
  const known = new KnownPacks(registries);
  for (const [name, version] of Object.entries(overrides)) checkAsked(name, version);
  const settling = new Settling(known, new Map(Object.entries(overrides)));
  if (roots.length > ROOTS_MAX)
    throw new OpenwopError('validation_error', { message: `More than ${ROOTS_MAX} packs are requested.` });
  for (const root of roots.toSorted(byNameThenRequester))
    settling.request(root.name, { range: rangeOf(root), requestedBy: root.requestedBy });
  const chosen = await settling.run();
  const packs = [...chosen.keys()].sort().map((name) => {
    const pack = resolvedPack(name, chosen, settling.requestsFor(name), known);
    return Object.hasOwn(overrides, name) ? { ...pack, isExact: true } : pack;
  });
  return { packs, overrides, warnings: packs.flatMap((pack) => warningsOf(pack)) };
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
    name,
    version,
    registry: registry.url,
    tarballUrl: manifest.tarballUrl,
    record: manifest.record,
    ...(manifest.signing && { signing: manifest.signing }),
    dependencies: Object.fromEntries(
      dependencies.map((dependency) => [dependency, chosen.get(dependency) ?? '']),
    ),
    peerDependencies: manifest.peerDependencies,
    requires: manifest.requires,
    requestedBy: requests.map(({ requestedBy, range }) => ({ requestedBy, range: range.text })),
    isExact: requests.some(({ range }) => range.exact !== undefined),
  };
}

function warningsOf({ name, version, record: { yanked, deprecated } }: ResolvedPack): string[] {
  const warnings: string[] = [];
  if (yanked)
    warnings.push(
      `${name}@${version} is yanked: ${yanked.reason ?? 'no reason given'}. It is used since it is pinned exactly.`,
    );
  if (deprecated) {
    const instead = deprecated.supersededBy === undefined ? '' : `; superseded by ${deprecated.supersededBy}`;
    warnings.push(`${name}@${version} is deprecated: ${deprecated.reason ?? 'no reason given'}${instead}.`);
  }
  return warnings;
}
