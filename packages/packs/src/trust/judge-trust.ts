import { ERRORS, type ErrorCode } from '@gantry/protocol';
import semver from 'semver';
import { exposures, type SecurityAdvisory } from './advisory.ts';
import type { SignatureCovers } from './file-list.ts';
import { integrityOf } from './keys.ts';
import { isPinned, type PackPin, policyBreach, type TrustPolicy } from './policy.ts';
import {
  judgeSignature,
  type SignatureJudgement,
  type SignedPack,
  TRUST_LEVELS,
  type Trust,
  type TrustLevel,
} from './signature.ts';

/** The facts of the registry about a version, besides the archive. */
export interface RegistryRecord {
  readonly integrity: string;
  readonly publishedAt?: string;
  readonly yanked?: { readonly reason?: string };
  readonly deprecated?: { readonly reason?: string; readonly supersededBy?: string };
}

export const describeYanked = ({
  reason = 'no reason given',
}: NonNullable<RegistryRecord['yanked']>): string => `is yanked: ${reason}`;

export const describeDeprecated = ({
  reason = 'no reason given',
  supersededBy,
}: NonNullable<RegistryRecord['deprecated']>): string =>
  `is deprecated: ${reason}${supersededBy ? `; superseded by ${supersededBy}` : ''}`;

export interface TrustQuestion {
  readonly pack: Omit<SignedPack, 'publishedAt'>;
  /** Absent for an archive from an operator. */
  readonly record?: RegistryRecord | undefined;
  readonly policy: TrustPolicy;
  /** Integrities from other sources than the server of the archive. */
  readonly pins?: readonly PackPin[] | undefined;
  /** What a signature must cover in mode `verified`. Default: the manifest. */
  readonly demands?: 'manifest' | 'files';
  readonly trust: Trust;
  readonly advisories: readonly SecurityAdvisory[];
  /** The installed version that would be replaced. */
  readonly installed?:
    | {
        readonly version: string;
        readonly level: TrustLevel;
        readonly signedBy?: string | undefined;
        readonly covers?: SignatureCovers | undefined;
      }
    | undefined;
  /** An older version may replace a newer one. */
  readonly allowsOlder?: boolean;
  /** A development folder of the operator, which is not signed. */
  readonly isOwnFolder?: boolean;
  /** This version was requested exactly; ranges never select a withdrawn one. */
  readonly isExact: boolean;
}

export type TrustJudgement =
  | {
      readonly trusted: true;
      readonly level: TrustLevel;
      readonly signedBy?: string;
      /** Absent if not signed, like the two above. */
      readonly signer?: string;
      readonly covers?: SignatureCovers;
      /** There is a signature by an unknown key. */
      readonly unknownSigner?: true;
      readonly integrity: string;
      readonly warnings: readonly string[];
    }
  | { readonly trusted: false; readonly code: ErrorCode; readonly message: string; readonly next: string };

type Refusal = TrustJudgement & { trusted: false };

/** Checks whether this archive may be installed under this policy. Returns the first reason against it. */
export async function judgeTrust(question: TrustQuestion): Promise<TrustJudgement> {
  const { pack, record, trust } = question;
  const integrity = integrityOf(pack.archive);
  const signature = await judgeSignature({ ...pack, publishedAt: record?.publishedAt }, trust);
  const refusal = unproved(question, integrity, signature) ?? replaced(question, signature);
  if (refusal !== undefined) return refusal;
  const warned = warnings(question, integrity, signature);
  if (signature.state !== 'verified')
    return {
      trusted: true,
      level: 'unsigned',
      integrity,
      warnings: warned,
      ...(signature.state === 'unverifiable' && { unknownSigner: true as const }),
    };
  const { level, signedBy, signer, covers } = signature;
  return { trusted: true, level, signedBy, signer, covers, integrity, warnings: warned };
}

const pinsOf = ({ policy, pins = [] }: TrustQuestion): readonly PackPin[] =>
  'pins' in policy ? [...(policy.pins ?? []), ...pins] : pins;

const nameOf = ({ pack }: TrustQuestion): string => `${pack.name}@${pack.version}`;

const refuse = (
  question: TrustQuestion,
  code: ErrorCode,
  why: string,
  next: string = ERRORS[code].next,
): Refusal => ({ trusted: false, code, message: `${nameOf(question)}: ${why}`, next });

/** The archive is not the published one, is not signed as required, or violates the policy. */
function unproved(
  question: TrustQuestion,
  integrity: string,
  signature: SignatureJudgement,
): Refusal | undefined {
  const { pack, record, isOwnFolder, policy, demands = 'manifest' } = question;
  const { name, version } = pack;
  if (record !== undefined && record.integrity !== integrity) {
    const why = `its archive is ${integrity}, published was ${record.integrity}.`;
    return refuse(question, 'pack_integrity_failure', why);
  }
  if (record !== undefined && name.startsWith('local.'))
    return refuse(question, 'invalid_pack_scope', 'packs of the scope local never come from a registry.');
  // A wrong signature is refused in every mode, and so is an unproved name of the protocol.
  if (signature.state === 'invalid') return refuse(question, 'pack_signature_invalid', signature.message);
  if (signature.state === 'unauthorized')
    return refuse(question, 'pack_namespace_unauthorized', signature.message);
  if (signature.state !== 'verified' && !isOwnFolder && name.startsWith('core.')) {
    const why = 'names of the scope core are reserved, and no key that may sign for them signed it.';
    const next = 'Add the key of the scope core, or give the pack a name of your own.';
    return refuse(question, 'pack_namespace_unauthorized', why, next);
  }
  const pins = pinsOf(question);
  const breach = policyBreach({ policy, pack: { name, version, integrity }, signature, pins, demands });
  return breach && refuse(question, breach.code, breach.why, breach.next);
}

/** The version has a lower trust level than the installed one, is older, or is withdrawn. */
function replaced(question: TrustQuestion, signature: SignatureJudgement): Refusal | undefined {
  const { pack, installed, allowsOlder = false, isExact } = question;
  const code = 'pack_trust_downgrade';
  if (installed !== undefined) {
    const level = signature.state === 'verified' ? signature.level : 'unsigned';
    const before = `while the installed ${installed.version}`;
    if (TRUST_LEVELS.indexOf(level) < TRUST_LEVELS.indexOf(installed.level))
      return refuse(question, code, `it is ${level}, ${before} is ${installed.level}.`);
    const { covers = 'manifest' } = installed;
    if (signature.state === 'verified' && signature.covers === 'manifest' && covers !== 'manifest')
      return refuse(
        question,
        code,
        `it has a signature over pack.json only, ${before} has one over its ${covers}.`,
      );
    // A downgrade to a version with known vulnerabilities must be explicit, never a side effect.
    if (!allowsOlder && semver.lt(pack.version, installed.version)) {
      const why = `it is older than the installed ${installed.version}, which it would replace.`;
      const next = 'Ask for exactly this version, or for an archive add --older (older=true).';
      return refuse(question, code, why, next);
    }
  }
  const [withdrawn] = isExact ? [] : withdrawals(question);
  return withdrawn && refuse(question, withdrawn.code, withdrawn.text);
}

/** Reasons not to use the version. A request for exactly this version gets these as warnings. */
function withdrawals({ pack, record, advisories }: TrustQuestion): { code: ErrorCode; text: string }[] {
  const found: { code: ErrorCode; text: string }[] = exposures(pack, advisories).map(
    ({ advisory: { id, severity, summary }, fixedIn }) => ({
      code: 'pack_version_vulnerable',
      text: `${id} (${severity}): ${summary}${fixedIn ? `; fixed in ${fixedIn}` : ''}.`,
    }),
  );
  if (record?.yanked === undefined) return found;
  return [{ code: 'pack_version_yanked', text: `it ${describeYanked(record.yanked)}.` }, ...found];
}

function warnings(question: TrustQuestion, integrity: string, signature: SignatureJudgement): string[] {
  const { record, installed } = question;
  const { name, version } = question.pack;
  const found = withdrawals(question).map(({ text }) => text);
  if (record?.deprecated) found.push(`it ${describeDeprecated(record.deprecated)}.`);
  if (signature.state === 'unsigned') found.push('it is not signed.');
  else if (signature.state !== 'verified') found.push(signature.message);
  else {
    if (signature.covers === 'manifest' && !isPinned({ name, version, integrity }, pinsOf(question)))
      found.push('its signature covers pack.json only; pin the integrity to protect the code.');
    if (installed?.signedBy !== undefined && installed.signedBy !== signature.signedBy)
      found.push(`it is signed by ${signature.signedBy}, the installed version by ${installed.signedBy}.`);
  }
  return found.map((text) => `${nameOf(question)}: ${text}`);
}
