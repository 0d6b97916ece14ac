import { capabilityName, ERRORS, isKnownCapability, isPartOf } from '@gantry/protocol';
import semver from 'semver';
import type { PackKind, PackManifest } from '../manifest/kinds.ts';
import type { RuntimeLanguage } from '../manifest/node.ts';
import { nameProblem, type PeerWish, readWish, VALUE_PROBLEM } from '../manifest/peer-wish.ts';

/** What a host offers to packs, as its discovery says it. */
export interface HostOffer {
  /** The protocol version that `engines.openwop` is judged by. */
  readonly protocolVersion: string;
  /**
   * Capabilities by any of their names, such as `aiProviders` or `host.kanban`; the values are levels or versions
   * that a peer dependency may ask for, such as `longTerm`.
   */
  readonly capabilities: ReadonlyMap<string, readonly string[]>;
  /** Languages that run here, without WebAssembly, which has versions. */
  readonly languages: ReadonlySet<Exclude<RuntimeLanguage, 'wasm'>>;
  /** ABI versions; empty when the host runs no WebAssembly. */
  readonly wasmAbiVersions: readonly number[];
  /** Primitives of `runtime.requires` that packs get here. */
  readonly grants: readonly string[];
  readonly kinds: ReadonlySet<PackKind>;
  /** Types of the host itself, which no pack replaces. */
  readonly builtInTypeIds: ReadonlySet<string>;
}

/** A swarm runtime can do what the floor of agent manifests asks for. */
const IMPLIED: Readonly<Record<string, readonly string[]>> = { agentRuntime: ['agents.manifestRuntime'] };

/** Capability by its short name, with what others imply. */
function offeredCapabilities(offer: HostOffer): Map<string, readonly string[]> {
  const offered = new Map<string, readonly string[]>();
  for (const [name, levels] of offer.capabilities) {
    const short = capabilityName(name);
    for (const implied of IMPLIED[short] ?? []) if (!offered.has(implied)) offered.set(implied, []);
    offered.set(short, levels);
  }
  return offered;
}

/** Why a required capability is not met: whose fault it is decides what is to be done. */
export type PeerProblem = { readonly name: string } & (
  | { readonly kind: 'not-offered' }
  /** Reserved by the protocol without a contract. */
  | { readonly kind: 'reserved' }
  | { readonly kind: 'unknown-name' }
  | { readonly kind: 'unknown-value'; readonly wanted: string }
  /** It is there, but not in this version or at this level. */
  | { readonly kind: 'too-low'; readonly wanted: string; readonly levels: readonly string[] }
);

export interface PeerJudgement {
  readonly unmet: readonly PeerProblem[];
  /** Optional and not met: the pack installs, and its inventory entries say so. */
  readonly degraded: readonly string[];
}

/** Slots that the protocol keeps for surfaces it has not defined; a host that offers one knows its contract. */
const RESERVED = new Set(['media', 'collaboration', 'workspace']);

export function judgePeers(manifest: PackManifest, offer: HostOffer): PeerJudgement {
  const offered = offeredCapabilities(offer);
  const unmet: PeerProblem[] = [];
  const degraded: string[] = [];
  for (const [name, wanted] of Object.entries(peersOf(manifest))) {
    const problem = problemOf(name, wanted, offered);
    if (problem === undefined) continue;
    const isOptional = wanted === 'optional' || manifest.peerDependenciesMeta?.[name]?.optional === true;
    if (isOptional) degraded.push(name);
    else unmet.push(problem);
  }
  return { unmet, degraded };
}

/** What is declared, and what a connector needs of the host though it does not say so. */
function peersOf(manifest: PackManifest): Record<string, string> {
  const declared = manifest.peerDependencies ?? {};
  const auth = manifest.kind === 'node' ? manifest.connector?.auth?.type : undefined;
  if (auth === undefined) return declared;
  return { [auth === 'oauth2' ? 'oauth' : 'credentials']: 'supported', ...declared };
}

function problemOf(
  name: string,
  wanted: string,
  offered: ReadonlyMap<string, readonly string[]>,
): PeerProblem | undefined {
  const short = capabilityName(name);
  const levels = offered.get(short);
  if (levels === undefined && RESERVED.has(short)) return { name, kind: 'reserved' };
  const isKnown = isKnownCapability(name) || [...offered.keys()].some((whole) => isPartOf(short, whole));
  if (!isKnown) return { name, kind: 'unknown-name' };
  const wish = readWish(wanted);
  if (wish.kind === 'unreadable') return { name, kind: 'unknown-value', wanted };
  if (levels === undefined) return { name, kind: 'not-offered' };
  return isMet(levels, wish) ? undefined : { name, kind: 'too-low', wanted, levels };
}

const isVersion = (level: string): boolean => semver.valid(level) !== null;

/** A capability is there, has the level of `>=level`, or a version in the range. */
function isMet(levels: readonly string[], wish: PeerWish): boolean {
  if (wish.kind === 'level') return levels.some((offered) => sameLevel(offered, wish.level));
  if (wish.kind !== 'version') return true;
  return levels.some((offered) => isVersion(offered) && semver.satisfies(offered, wish.range));
}

/** `longTerm` and `long-term` are both written. */
const sameLevel = (left: string, right: string): boolean =>
  left.replaceAll('-', '').toLowerCase() === right.replaceAll('-', '').toLowerCase();

/** Whether only the author of the pack can correct it. */
const isAuthors = ({ kind }: PeerProblem): boolean => kind === 'unknown-name' || kind === 'unknown-value';

/** Names come from outside, and each is compared with all known ones. */
const SHOWN_MAX = 10;

/** What is wrong, as the end of a sentence that begins with the pack, and what can be done about it. */
export function describePeers(
  problems: readonly PeerProblem[],
  code: 'pack_peer_dependency_missing' | 'pack_peer_dependency_undefined',
): { readonly why: string; readonly next: string } {
  const absent = problems.filter(({ kind }) => kind === 'not-offered').map(({ name }) => name);
  const others = problems
    .filter(({ kind }) => kind !== 'not-offered')
    .slice(0, SHOWN_MAX)
    .map(describe);
  const lacking = absent.length === 0 ? [] : [`needs ${absent.join(', ')}, which this host does not offer`];
  const next = [
    ...(problems.some(isAuthors) ? ['Correct peerDependencies in pack.json.'] : []),
    ...(problems.every(isAuthors) ? [] : [ERRORS[code].next]),
  ];
  return { why: `${[...lacking, ...others].join('; it ')}.`, next: next.join(' ') };
}

function describe(problem: PeerProblem): string {
  const { name } = problem;
  switch (problem.kind) {
    case 'not-offered':
      return `needs ${name}, which this host does not offer`;
    case 'reserved':
      return `needs ${name}, which the protocol reserves for later`;
    case 'unknown-name':
      return `needs ${name}, which ${nameProblem(name)}`;
    case 'unknown-value':
      return `asks for ${name} with ${JSON.stringify(problem.wanted)}, which ${VALUE_PROBLEM}`;
    case 'too-low': {
      const { wanted, levels } = problem;
      const what = readWish(wanted).kind === 'version' ? 'version' : 'level';
      const has = levels.filter((level) => isVersion(level) === (what === 'version')).join(', ');
      return `asks for ${name} with ${JSON.stringify(wanted)}, and here it has ${has || `no ${what}`}`;
    }
  }
}
