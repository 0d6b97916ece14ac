/**
 * Copies another registry: packs with their proofs, when they were published, what was withdrawn or replaced, keys,
 * namespaces and advisories. A mirror that ended half-way goes on where it was: what is here is not fetched again.
 */
import {
  type CopyableRegistry,
  type IndexedVersion,
  type Keychain,
  permits,
  readAdvisories,
  type SecurityAdvisory,
} from '@gantry/packs';
import { OpenwopError } from '@gantry/protocol';
import type { AdvisoryBoard } from '../derived/advisory-board.ts';
import { copyAdvisories } from './copy-advisories.ts';
import { type CopyDeps, copyVersion } from './copy-version.ts';
import type { MirroredKeys, RefusedKey } from './mirrored-keys.ts';
import { eachOf, type Wait } from './patience.ts';
import { readSourceDirectory, readSourceKeychain } from './source-keys.ts';

/** Archives are held in memory while they are proved, so this bounds that too. */
const VERSIONS_AT_ONCE = 4;
const PACKS_AT_ONCE = 8;

export interface MirrorDeps extends CopyDeps {
  readonly keys: MirroredKeys;
  readonly board: AdvisoryBoard;
}

export interface MirrorOptions {
  readonly registry: CopyableRegistry;
  /** What the other registry is called here. */
  readonly source: string;
  /** Names or namespaces; all packs without it. */
  readonly only?: readonly string[];
  readonly signal: AbortSignal;
  readonly progress: (counts: MirrorCounts) => void;
  readonly wait?: Wait;
}

export interface MirrorCounts {
  readonly packs: number;
  readonly total: number;
  readonly done: number;
  readonly copied: number;
  readonly there: number;
  readonly updated: number;
  readonly bytes: number;
}

export interface NamedReason {
  readonly what: string;
  readonly code?: string;
  readonly reason: string;
}

export interface MirrorSummary extends MirrorCounts {
  readonly keys: number;
  readonly assignments: number;
  readonly keychains: number;
  readonly advisories: number;
  /** Versions, packs, keys and advisories that were not taken. */
  readonly refused: readonly NamedReason[];
  /** Nobody's fault: withdrawn versions that cannot be proved any more, and what was unpublished here. */
  readonly leftOut: readonly NamedReason[];
  /** Versions whose turn never came, since the other registry went silent or somebody ended the mirror. */
  readonly notTried: number;
}

interface Found {
  readonly name: string;
  readonly indexed: IndexedVersion;
}

type Counts = { -readonly [K in keyof MirrorCounts]: MirrorCounts[K] };

interface Work extends MirrorOptions {
  readonly counts: Counts;
  readonly refused: NamedReason[];
  readonly leftOut: NamedReason[];
}

const NOTHING_YET: MirrorCounts = {
  packs: 0,
  total: 0,
  done: 0,
  copied: 0,
  there: 0,
  updated: 0,
  bytes: 0,
};

export async function mirrorRegistry(deps: MirrorDeps, options: MirrorOptions): Promise<MirrorSummary> {
  const work: Work = { ...options, counts: { ...NOTHING_YET }, refused: [], leftOut: [] };
  const { registry, counts } = work;
  const names = selected(await registry.list(), options.only);
  counts.packs = names.length;
  const feed = await readFeed(registry);
  const { found, keychains, packsNotTried, isWhole } = await survey(work, names);
  counts.total = found.length;
  const listing = { ...(await readSourceDirectory(registry, names)), keychains };
  const refusedKeys = await deps.keys.keep({
    source: work.source,
    listing,
    isPart: options.only !== undefined || !isWhole,
    ownKey: (keyId) => deps.claims.ownKey(keyId),
  });
  const notTried = await copyAll(deps, work, { found, advisories: feed.advisories, refusedKeys });
  const advisories = await copyAdvisories(feed.document, deps);
  return {
    ...counts,
    keys: listing.keys.length - refusedKeys.length,
    assignments: listing.assignments.length,
    keychains: keychains.length,
    advisories: advisories.count,
    notTried: notTried + packsNotTried,
    leftOut: work.leftOut,
    refused: [
      ...work.refused,
      ...refusedKeys.map(({ keyId, reason }) => ({ what: `key ${keyId}`, reason })),
      ...advisories.refused.map(({ id, reason }) => ({ what: `advisory ${id}`, reason })),
    ],
  };
}

const selected = (names: readonly string[], only: readonly string[] | undefined): readonly string[] =>
  [...new Set(names)].filter((name) => only === undefined || permits(only, name)).sort();

async function readFeed(
  registry: CopyableRegistry,
): Promise<{ document: unknown; advisories: readonly SecurityAdvisory[] }> {
  const document = await registry.document({ of: 'advisories' });
  if (document === undefined) return { document, advisories: [] };
  const { advisories, unreadable } = readAdvisories(document);
  if (unreadable === 0) return { document, advisories };
  throw new OpenwopError('pack_registry_unreachable', {
    message: `${unreadable} security advisories of ${registry.url} are not readable. To copy it without them would look safe; tell its operator.`,
  });
}

interface Survey {
  readonly found: readonly Found[];
  readonly keychains: readonly Keychain[];
  readonly packsNotTried: number;
  readonly isWhole: boolean;
}

/** Which versions there are, so that progress has an end, and the keychains of their packs. */
async function survey(work: Work, names: readonly string[]): Promise<Survey> {
  const { registry, signal, wait, refused } = work;
  const versions = new Map<string, readonly IndexedVersion[]>();
  const keychains = new Map<string, Keychain>();
  const packsNotTried = await eachOf({
    items: names,
    atOnce: PACKS_AT_ONCE,
    signal,
    ...(wait && { wait }),
    async work(name) {
      const index = await registry.index(name);
      if (index === undefined) throw missing(registry, name);
      const keychain = await readSourceKeychain(registry, name);
      if (keychain !== undefined) keychains.set(keychain.namespace, keychain);
      versions.set(name, index.versions);
    },
    failed: (name, error) => refused.push({ what: name, code: error.code, reason: error.message }),
  });
  const found = names.flatMap((name) => (versions.get(name) ?? []).map((indexed) => ({ name, indexed })));
  const isWhole = versions.size === names.length;
  return { found, keychains: [...keychains.values()], packsNotTried, isWhole };
}

const missing = ({ url }: CopyableRegistry, name: string): OpenwopError =>
  new OpenwopError('pack_version_not_found', { message: `${url} lists ${name} and does not serve it.` });

function copyAll(
  deps: MirrorDeps,
  work: Work,
  what: {
    readonly found: readonly Found[];
    readonly advisories: readonly SecurityAdvisory[];
    readonly refusedKeys: readonly RefusedKey[];
  },
): Promise<number> {
  const { registry, source, signal, wait, counts, progress } = work;
  const metadata = remembered((name) => registry.document({ of: 'packMetadata', name }));
  const refusedKeys = new Set(what.refusedKeys.map(({ keyId }) => keyId));
  const next = (): void => {
    counts.done++;
    progress(counts);
  };
  return eachOf({
    items: what.found,
    atOnce: VERSIONS_AT_ONCE,
    signal,
    ...(wait && { wait }),
    async work({ name, indexed }) {
      const copied = await copyVersion(deps, {
        registry,
        source,
        name,
        indexed,
        refusedKeys,
        advisories: what.advisories,
        metadata: () => metadata(name),
      });
      if (copied.kind === 'left-out')
        work.leftOut.push({ what: `${name}@${indexed.version}`, reason: copied.reason });
      else counts[copied.kind]++;
      if (copied.kind === 'copied') counts.bytes += copied.bytes;
      next();
    },
    failed({ name, indexed }, error) {
      work.refused.push({ what: `${name}@${indexed.version}`, code: error.code, reason: error.message });
      next();
    },
  });
}

/** Versions of a pack follow each other, so the last few are all that is worth keeping. */
function remembered(read: (name: string) => Promise<unknown>): (name: string) => Promise<unknown> {
  const known = new Map<string, Promise<unknown>>();
  return (name) => {
    const reading = known.get(name) ?? read(name);
    known.delete(name);
    known.set(name, reading);
    reading.catch(() => known.delete(name));
    const [oldest] = known.keys();
    if (known.size > VERSIONS_AT_ONCE && oldest !== undefined) known.delete(oldest);
    return reading;
  };
}
