import type { ErrorCode } from '@gantry/protocol';
import semver from 'semver';
import type { SignatureJudgement } from './signature.ts';

export interface PackPin {
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
}

export interface AllowedPack {
  readonly name: string;
  /** A range; any version without it. */
  readonly versions?: string;
  /** Nails the archive itself. */
  readonly integrity?: string;
}

export type TrustPolicy =
  | { readonly mode: 'allowlist'; readonly packs: readonly AllowedPack[] }
  | { readonly mode: 'pinned'; readonly pins: readonly PackPin[] }
  | { readonly mode: 'verified' }
  /** Development only. Even here a wrong signature or integrity is refused. */
  | { readonly mode: 'open' };

export interface PolicyBreach {
  readonly code: ErrorCode;
  readonly why: string;
}

/** What the policy has against this pack with this integrity and signature. */
export function policyBreach(
  policy: TrustPolicy,
  pack: PackPin,
  signature: SignatureJudgement,
): PolicyBreach | undefined {
  switch (policy.mode) {
    case 'open':
      return undefined;
    case 'verified':
      return verifiedBreach(signature);
    case 'allowlist':
      return allowlistBreach(policy.packs, pack);
    case 'pinned':
      return pinnedBreach(policy.pins, pack);
  }
}

function verifiedBreach(signature: SignatureJudgement): PolicyBreach | undefined {
  if (signature.state === 'verified') return undefined;
  const why = signature.state === 'unsigned' ? 'it is not signed.' : signature.message;
  return { code: 'pack_signature_unverifiable', why };
}

function allowlistBreach(packs: readonly AllowedPack[], pack: PackPin): PolicyBreach | undefined {
  const entries = packs.filter(
    ({ name, versions = '*' }) =>
      name === pack.name && semver.satisfies(pack.version, versions, { includePrerelease: true }),
  );
  if (entries.length === 0) return { code: 'pack_not_allowed', why: 'it is not on the allow-list.' };
  if (entries.some(({ integrity }) => integrity === undefined || integrity === pack.integrity))
    return undefined;
  return {
    code: 'pack_integrity_failure',
    why: `its archive is ${pack.integrity}, the allow-list has another.`,
  };
}

function pinnedBreach(pins: readonly PackPin[], pack: PackPin): PolicyBreach | undefined {
  const pin = pins.find(({ name, version }) => name === pack.name && version === pack.version);
  if (pin === undefined) return { code: 'pack_not_allowed', why: 'no pin names this version.' };
  if (pin.integrity === pack.integrity) return undefined;
  return {
    code: 'pack_integrity_failure',
    why: `its archive is ${pack.integrity}, the pin says ${pin.integrity}.`,
  };
}
