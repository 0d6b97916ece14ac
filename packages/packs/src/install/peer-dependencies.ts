import semver from 'semver';
import type { PackManifest } from '../manifest/kinds.ts';
import { capabilityName, type HostOffer, offeredCapabilities } from './offer.ts';

export interface PeerJudgement {
  /** Required and not offered. */
  readonly missing: readonly string[];
  /** Required, but reserved by the protocol without a contract. */
  readonly undefined: readonly string[];
  /** Optional and not offered: the pack installs, and its inventory entries say so. */
  readonly degraded: readonly string[];
}

/** Slots that the protocol keeps for surfaces it has not defined; a host that offers one knows its contract. */
const RESERVED = new Set(['media', 'collaboration', 'workspace']);
const PRESENT = new Set(['supported', 'required', 'optional', '*']);

export function judgePeers(manifest: PackManifest, offer: HostOffer): PeerJudgement {
  const offered = offeredCapabilities(offer);
  const judgement = { missing: [] as string[], undefined: [] as string[], degraded: [] as string[] };
  for (const [name, wanted] of Object.entries(peersOf(manifest))) {
    const short = capabilityName(name);
    const isOptional = wanted === 'optional' || manifest.peerDependenciesMeta?.[name]?.optional === true;
    if (RESERVED.has(short) && !offered.has(short))
      judgement[isOptional ? 'degraded' : 'undefined'].push(name);
    else if (!isMet(offered.get(short), wanted)) judgement[isOptional ? 'degraded' : 'missing'].push(name);
  }
  return judgement;
}

/** What is declared, and what a connector needs of the host though it does not say so. */
function peersOf(manifest: PackManifest): Record<string, string> {
  const declared = manifest.peerDependencies ?? {};
  const auth = manifest.kind === 'node' ? manifest.connector?.auth?.type : undefined;
  if (auth === undefined) return declared;
  return { [auth === 'oauth2' ? 'oauth' : 'credentials']: 'supported', ...declared };
}

/** A capability is there, has the level of `>=level`, or a version in the range; what we cannot read is not met. */
function isMet(levels: readonly string[] | undefined, wanted: string): boolean {
  if (levels === undefined) return false;
  if (PRESENT.has(wanted)) return true;
  const level = /^>=\s*([a-z][\w-]*)$/i.exec(wanted)?.[1];
  if (level !== undefined) return levels.some((offered) => sameLevel(offered, level));
  if (semver.validRange(wanted) === null) return false;
  return levels.some((offered) => semver.valid(offered) !== null && semver.satisfies(offered, wanted));
}

/** `longTerm` and `long-term` are both written. */
const sameLevel = (left: string, right: string): boolean =>
  left.replaceAll('-', '').toLowerCase() === right.replaceAll('-', '').toLowerCase();
