import type { ErrorCode } from '@gantry/protocol';
import semver from 'semver';
import Type, { type Static } from 'typebox';
import type { Frozen } from '../json.ts';
import { Label, matching, strict, text } from '../manifest/fields.ts';
import { INTEGRITY } from './keys.ts';
import type { SignatureJudgement } from './signature.ts';

const Version = text(128, 1);
const Integrity = matching(INTEGRITY.source);
const LISTED = { maxItems: 10_000 } as const;

const PackPin = strict({ name: Label, version: Version, integrity: Integrity });
export type PackPin = Frozen<Static<typeof PackPin>>;

const AllowedPack = strict({
  name: Label,
  /** A range; any version without it. */
  'versions?': Version,
  /** Nails the archive itself. */
  'integrity?': Integrity,
});

export const POLICIES = {
  allowlist: strict({ mode: Type.Literal('allowlist'), packs: Type.Array(AllowedPack, LISTED) }),
  pinned: strict({ mode: Type.Literal('pinned'), pins: Type.Array(PackPin, LISTED) }),
  /** `pins` vouch for the content of archives whose signature covers the manifest alone. */
  verified: strict({ mode: Type.Literal('verified'), 'pins?': Type.Array(PackPin, LISTED) }),
  /** Development only. Even here a wrong signature or integrity is refused. */
  open: strict({ mode: Type.Literal('open') }),
} as const;
type Policies = typeof POLICIES;
export type TrustPolicy = Frozen<{ [Mode in keyof Policies]: Static<Policies[Mode]> }[keyof Policies]>;

export interface PolicyBreach {
  readonly code: ErrorCode;
  readonly why: string;
  /** Where the catalogue's next step does not fit. */
  readonly next?: string;
}

export interface PolicyQuestion {
  readonly policy: TrustPolicy;
  readonly pack: PackPin;
  readonly signature: SignatureJudgement;
  /** Pins from elsewhere than the policy, and never from the server of the archive: a lockfile, a workflow. */
  readonly pins: readonly PackPin[];
  /** What a signature has to cover. */
  readonly demands: 'manifest' | 'files';
}

/** Whether a source other than the server of the archive pins it. */
export const isPinned = ({ policy, pack, pins }: Omit<PolicyQuestion, 'signature' | 'demands'>): boolean =>
  [...(policy.mode === 'verified' ? (policy.pins ?? []) : []), ...pins].some(
    (pin) => pin.name === pack.name && pin.version === pack.version && pin.integrity === pack.integrity,
  );

/** What the policy has against this pack with this integrity and signature. */
export function policyBreach(question: PolicyQuestion): PolicyBreach | undefined {
  const { policy, pack, pins } = question;
  switch (policy.mode) {
    case 'open':
      return undefined;
    case 'verified':
      return verifiedBreach(question);
    case 'allowlist':
      return allowlistBreach(policy.packs, pack);
    case 'pinned':
      return pinnedBreach([...policy.pins, ...pins], pack);
  }
}

function verifiedBreach(question: PolicyQuestion): PolicyBreach | undefined {
  const { signature, demands } = question;
  const code = 'pack_signature_unverifiable';
  if (signature.state !== 'verified')
    return { code, why: signature.state === 'unsigned' ? 'it is not signed.' : signature.message };
  if (demands === 'manifest' || signature.covers !== 'manifest' || isPinned(question)) return undefined;
  const why = 'its signature covers pack.json only, and this host wants the files signed or pinned.';
  const next =
    'Pin its integrity in the trust file, a lockfile or the `packs` of a workflow, or ask its publisher to sign the files.';
  return { code, why, next };
}

function allowlistBreach(
  packs: readonly Static<typeof AllowedPack>[],
  pack: PackPin,
): PolicyBreach | undefined {
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
  const named = pins.filter(({ name, version }) => name === pack.name && version === pack.version);
  if (named.length === 0) return { code: 'pack_not_allowed', why: 'no pin names this version.' };
  if (named.some(({ integrity }) => integrity === pack.integrity)) return undefined;
  return {
    code: 'pack_integrity_failure',
    why: `its archive is ${pack.integrity}, the pin says ${named[0]?.integrity}.`,
  };
}
