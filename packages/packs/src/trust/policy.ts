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
  /** A range. Default: any version. */
  'versions?': Version,
  /** The integrity of the only allowed archive. */
  'integrity?': Integrity,
});

export const POLICIES = {
  allowlist: strict({ mode: Type.Literal('allowlist'), packs: Type.Array(AllowedPack, LISTED) }),
  pinned: strict({ mode: Type.Literal('pinned'), pins: Type.Array(PackPin, LISTED) }),
  /** `pins` confirm the content of archives whose signature covers only the manifest. */
  verified: strict({ mode: Type.Literal('verified'), 'pins?': Type.Array(PackPin, LISTED) }),
  /** Development only. Even here a wrong signature or integrity is refused. */
  open: strict({ mode: Type.Literal('open') }),
} as const;
type Policies = typeof POLICIES;
export type TrustPolicy = Frozen<{ [Mode in keyof Policies]: Static<Policies[Mode]> }[keyof Policies]>;

export interface PolicyBreach {
  readonly code: ErrorCode;
  readonly why: string;
  /** If the advice of the catalogue does not fit. */
  readonly next?: string;
}

export interface PolicyQuestion {
  readonly policy: TrustPolicy;
  readonly pack: PackPin;
  readonly signature: SignatureJudgement;
  /** From the policy and other sources, such as a lockfile or a workflow, but never from the server of the archive. */
  readonly pins: readonly PackPin[];
  /** What a signature must cover. */
  readonly demands: 'manifest' | 'files';
}

const isOf = (pin: PackPin, { name, version }: PackPin): boolean =>
  pin.name === name && pin.version === version;

export const isPinned = (pack: PackPin, pins: readonly PackPin[]): boolean =>
  pins.some((pin) => isOf(pin, pack) && pin.integrity === pack.integrity);

/** The violation of the policy by this pack with this integrity and signature, if any. */
export function policyBreach(question: PolicyQuestion): PolicyBreach | undefined {
  const { policy, pack, pins } = question;
  switch (policy.mode) {
    case 'open':
      return undefined;
    case 'verified':
      return verifiedBreach(question);
    case 'allowlist': {
      const entries = policy.packs.filter(
        ({ name, versions = '*' }) =>
          name === pack.name && semver.satisfies(pack.version, versions, { includePrerelease: true }),
      );
      return listBreach(entries, pack, 'it is not on the allow-list.', 'the allow-list has another.');
    }
    case 'pinned': {
      const named = pins.filter((pin) => isOf(pin, pack));
      return listBreach(named, pack, 'no pin names this version.', `the pin says ${named[0]?.integrity}.`);
    }
  }
}

function verifiedBreach({ pack, signature, pins, demands }: PolicyQuestion): PolicyBreach | undefined {
  const code = 'pack_signature_unverifiable';
  if (signature.state !== 'verified')
    return { code, why: signature.state === 'unsigned' ? 'it is not signed.' : signature.message };
  if (demands === 'manifest' || signature.covers !== 'manifest' || isPinned(pack, pins)) return undefined;
  const why = 'its signature covers pack.json only, and this host wants the files signed or pinned.';
  const next =
    'Pin its integrity in the trust file, a lockfile or the `packs` of a workflow, or ask its publisher to sign the files.';
  return { code, why, next };
}

/** One of the entries for the version must have its integrity, or state none. */
function listBreach(
  named: readonly { readonly integrity?: string }[],
  pack: PackPin,
  absent: string,
  other: string,
): PolicyBreach | undefined {
  if (named.length === 0) return { code: 'pack_not_allowed', why: absent };
  if (named.some(({ integrity = pack.integrity }) => integrity === pack.integrity)) return undefined;
  return { code: 'pack_integrity_failure', why: `its archive is ${pack.integrity}, ${other}` };
}
