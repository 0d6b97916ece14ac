import { capabilityName, ERRORS, isKnownCapability, isPartOf, meantCapability } from '@gantry/protocol';
import semver from 'semver';
import type { PackKind, PackManifest } from '../manifest/kinds.ts';
import type { RuntimeLanguage } from '../manifest/node.ts';

/** The features of a host for packs, as in its discovery. */
export interface HostOffer {
  /** The protocol version for `engines.openwop`. */
  readonly protocolVersion: string;
  /**
   * Capabilities by any of their names, such as `aiProviders` or `host.kanban`. The values are levels or versions
   * that a peer dependency may require, such as `longTerm`.
   */
  readonly capabilities: ReadonlyMap<string, readonly string[]>;
  /** How an operator can offer what is missing, by short names. */
  readonly advice?: Readonly<Record<string, string>>;
  /** Supported languages, without WebAssembly, which has versions. */
  readonly languages: ReadonlySet<Exclude<RuntimeLanguage, 'wasm'>>;
  /** ABI versions; empty if the host does not run WebAssembly. */
  readonly wasmAbiVersions: readonly number[];
  /** Primitives of `runtime.requires` that packs can get here. */
  readonly grants: readonly string[];
  readonly kinds: ReadonlySet<PackKind>;
  /** Types of the host itself, which packs cannot replace. */
  readonly builtInTypeIds: ReadonlySet<string>;
}

/** Capabilities that include others. */
const IMPLIED: Readonly<Record<string, readonly string[]>> = { agentRuntime: ['agents.manifestRuntime'] };

/** Capabilities by their short name, including implied ones. */
function offeredCapabilities(offer: HostOffer): Map<string, readonly string[]> {
  const offered = new Map<string, readonly string[]>();
  for (const [name, levels] of offer.capabilities) {
    const short = capabilityName(name);
    for (const implied of IMPLIED[short] ?? []) if (!offered.has(implied)) offered.set(implied, []);
    offered.set(short, levels);
  }
  return offered;
}

/** Why a required capability is not met. */
export interface PeerProblem {
  readonly name: string;
  /** `reserved`: the protocol reserves it without a contract. `mistake`: the author of the pack must correct it. */
  readonly kind: 'not-offered' | 'reserved' | 'mistake' | 'too-low';
  /** The rest of a sentence about the pack. Computed on demand, since the name is compared with all known ones. */
  readonly text: () => string;
  /** What can be done, beside the advice of the error code. */
  readonly next?: string;
}

/** Names that the protocol reserves for surfaces it has not defined; a host that offers one knows its contract. */
const RESERVED = new Set(['media', 'collaboration', 'workspace']);

/** `degraded`: optional and not met. The pack is installed, and its inventory entries report it. */
export function judgePeers(manifest: PackManifest, offer: HostOffer) {
  const offered = offeredCapabilities(offer);
  const unmet: PeerProblem[] = [];
  const degraded: string[] = [];
  for (const [name, wanted] of Object.entries(peersOf(manifest))) {
    const problem = problemOf(name, wanted, offered);
    if (problem === undefined) continue;
    const next = problem.kind === 'not-offered' ? offer.advice?.[familyOf(name)] : undefined;
    const isOptional = wanted === 'optional' || manifest.peerDependenciesMeta?.[name]?.optional === true;
    if (isOptional) degraded.push(name);
    else unmet.push({ ...problem, ...(next !== undefined && { next }) });
  }
  return { unmet, degraded };
}

/** `aiProviders` of `host.aiProviders.embeddings`. */
const familyOf = (name: string): string => capabilityName(name).split('.')[0]!;

/** The declared peers, and what a connector needs of the host without declaring it. */
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
  const problem = (kind: PeerProblem['kind'], text: () => string): PeerProblem => ({ name, kind, text });
  const asks = `asks for ${name} with ${JSON.stringify(wanted)}`;
  if (levels === undefined && RESERVED.has(short))
    return problem('reserved', () => `needs ${name}, which the protocol reserves for later`);
  const isKnown = isKnownCapability(name) || [...offered.keys()].some((whole) => isPartOf(short, whole));
  if (!isKnown) return problem('mistake', () => `needs ${name}, which ${nameProblem(name)}`);
  const wish = readWish(wanted);
  if (wish === undefined) return problem('mistake', () => `${asks}, which ${VALUE_PROBLEM}`);
  if (levels === undefined)
    return problem('not-offered', () => `needs ${name}, which this host does not offer`);
  const { kind } = wish;
  if (kind === 'present' || levels.some(wish.isMetBy)) return undefined;
  const has = levels.filter((level) => isVersion(level) === (kind === 'version')).join(', ');
  return problem('too-low', () => `${asks}, and here it has ${has || `no ${kind}`}`);
}

const isVersion = (level: string): boolean => semver.valid(level) !== null;

/** Both `longTerm` and `long-term` are in use. */
const sameLevel = (left: string, right: string): boolean =>
  left.replaceAll('-', '').toLowerCase() === right.replaceAll('-', '').toLowerCase();

/** Names come from outside, and each is compared with all known ones. */
const SHOWN_MAX = 10;

/** The problem, as the rest of a sentence that starts with the pack, and what can be done about it. */
export function describePeers(
  problems: readonly PeerProblem[],
  code: 'pack_peer_dependency_missing' | 'pack_peer_dependency_undefined',
): { readonly why: string; readonly next: string } {
  const absent = problems.filter(({ kind }) => kind === 'not-offered').map(({ name }) => name);
  const others = problems.filter(({ kind }) => kind !== 'not-offered').slice(0, SHOWN_MAX);
  const lacking = absent.length === 0 ? [] : [`needs ${absent.join(', ')}, which this host does not offer`];
  const next = [
    ...new Set(problems.flatMap((problem) => problem.next ?? [])),
    ...(problems.some(isMistake) ? ['Correct peerDependencies in pack.json.'] : []),
    ...(problems.every(isMistake) ? [] : [ERRORS[code].next]),
  ];
  return { why: `${[...lacking, ...others.map(({ text }) => text())].join('; it ')}.`, next: next.join(' ') };
}

const isMistake = ({ kind }: PeerProblem): boolean => kind === 'mistake';

/** A required capability: its presence, a level of it, or a version. */
type PeerWish =
  | { readonly kind: 'present' }
  | { readonly kind: 'level' | 'version'; readonly isMetBy: (offered: string) => boolean };

const PRESENT = new Set(['supported', 'required', 'optional', '*']);

/** Undefined for an invalid value. */
export function readWish(wanted: string): PeerWish | undefined {
  if (PRESENT.has(wanted)) return { kind: 'present' };
  const level = /^>=\s*([a-z][\w-]*)$/i.exec(wanted)?.[1];
  if (level !== undefined) return { kind: 'level', isMetBy: (offered) => sameLevel(offered, level) };
  if (semver.validRange(wanted) === null) return undefined;
  return { kind: 'version', isMetBy: (offered) => isVersion(offered) && semver.satisfies(offered, wanted) };
}

export const VALUE_PROBLEM =
  'is not a valid value: write "supported", "optional", a level such as ">=long-term" or a version such as "^1.2"';

export function nameProblem(name: string): string {
  const meant = meantCapability(name);
  const hint = meant === undefined ? 'docs/capabilities.md lists them' : `did you mean ${meant}?`;
  return `is not a known capability (${hint})`;
}
