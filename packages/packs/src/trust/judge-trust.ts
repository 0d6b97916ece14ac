import { ERRORS, type ErrorCode } from '@gantry/protocol';
import semver from 'semver';
import { exposures, type SecurityAdvisory } from './advisory.ts';
import type { SignatureCovers } from './file-list.ts';
import { integrityOf } from './integrity.ts';
import { isPinned, type PackPin, policyBreach, type TrustPolicy } from './policy.ts';
import {
  judgeSignature,
  type SignatureJudgement,
  type SignedPack,
  TRUST_LEVELS,
  type Trust,
  type TrustLevel,
} from './signature.ts';

/** What the registry says of a version, beside the archive. */
export interface RegistryRecord {
  readonly integrity: string;
  readonly publishedAt?: string;
  readonly yanked?: { readonly reason?: string };
  readonly deprecated?: { readonly reason?: string; readonly supersededBy?: string };
}

export interface TrustQuestion {
  readonly pack: Omit<SignedPack, 'publishedAt'>;
  /** Absent for an archive that an operator hands over. */
  readonly record?: RegistryRecord;
  readonly policy: TrustPolicy;
  /** Integrities that did not come from the server of the archive. */
  readonly pins?: readonly PackPin[];
  /** What a signature has to cover in mode `verified`; the manifest without it. */
  readonly demands?: 'manifest' | 'files';
  readonly trust: Trust;
  readonly advisories: readonly SecurityAdvisory[];
  /** What an upgrade would replace. */
  readonly installed?: {
    readonly version: string;
    readonly level: TrustLevel;
    readonly signedBy?: string;
    readonly covers?: SignatureCovers;
  };
  /** An older version may take the place of a newer one. */
  readonly allowsOlder?: boolean;
  /** The operator named the folder, which is being developed: nobody signs it. */
  readonly isOwnFolder?: boolean;
  /** Somebody asked for exactly this version; ranges never choose a withdrawn one. */
  readonly isExact: boolean;
}

export type TrustJudgement =
  | {
      readonly trusted: true;
      readonly level: TrustLevel;
      readonly signedBy?: string;
      /** Absent for what is not signed, like the two above. */
      readonly signer?: string;
      readonly covers?: SignatureCovers;
      readonly integrity: string;
      readonly warnings: readonly string[];
    }
  | { readonly trusted: false; readonly code: ErrorCode; readonly message: string; readonly next: string };

type Refusal = TrustJudgement & { trusted: false };

/** May this archive be installed under this policy? The first reason against it is the answer. */
export async function judgeTrust(question: TrustQuestion): Promise<TrustJudgement> {
  const { pack, record, trust } = question;
  const integrity = integrityOf(pack.archive);
  const publishedAt = record?.publishedAt;
  const signature = await judgeSignature(
    { ...pack, ...(publishedAt === undefined ? {} : { publishedAt }) },
    trust,
  );
  const refusal =
    refuseIntegrity(question, integrity) ??
    refuseSignature(question, signature) ??
    refuseBreach(question, integrity, signature) ??
    refuseDowngrade(question, signature) ??
    refuseOlder(question) ??
    refuseWithdrawn(question);
  if (refusal !== undefined) return refusal;
  const warned = warnings(question, integrity, signature);
  if (signature.state !== 'verified')
    return { trusted: true, level: 'unsigned', integrity, warnings: warned };
  const { level, signedBy, signer, covers } = signature;
  return { trusted: true, level, signedBy, signer, covers, integrity, warnings: warned };
}

const nameOf = ({ pack }: TrustQuestion): string => `${pack.name}@${pack.version}`;

function refuse(
  question: TrustQuestion,
  code: ErrorCode,
  why: string,
  next: string = ERRORS[code].next,
): Refusal {
  return { trusted: false, code, message: `${nameOf(question)}: ${why}`, next };
}

function refuseIntegrity(question: TrustQuestion, integrity: string): Refusal | undefined {
  const { pack, record } = question;
  if (record !== undefined && record.integrity !== integrity)
    return refuse(
      question,
      'pack_integrity_failure',
      `its archive is ${integrity}, published was ${record.integrity}.`,
    );
  if (record !== undefined && pack.name.startsWith('local.'))
    return refuse(question, 'invalid_pack_scope', 'packs of the scope local never come from a registry.');
  return undefined;
}

/** A signature that is there and wrong is refused in every mode, and so is a name of the protocol that nobody proves. */
function refuseSignature(question: TrustQuestion, signature: SignatureJudgement): Refusal | undefined {
  const { pack, isOwnFolder } = question;
  if (signature.state === 'invalid') return refuse(question, 'pack_signature_invalid', signature.message);
  if (signature.state === 'unauthorized')
    return refuse(question, 'pack_namespace_unauthorized', signature.message);
  if (signature.state === 'verified' || isOwnFolder || !pack.name.startsWith('core.')) return undefined;
  const why = 'names of the scope core are reserved, and no key that may sign for them signed it.';
  const next = 'Add the key of the scope core, or give the pack a name of your own.';
  return refuse(question, 'pack_namespace_unauthorized', why, next);
}

function refuseBreach(
  question: TrustQuestion,
  integrity: string,
  signature: SignatureJudgement,
): Refusal | undefined {
  const { policy, pins = [], demands = 'manifest' } = question;
  const { name, version } = question.pack;
  const breach = policyBreach({ policy, pack: { name, version, integrity }, signature, pins, demands });
  return breach && refuse(question, breach.code, breach.why, breach.next);
}

/** An upgrade is proved as well as what it replaces: who signed, and what the signature covers. */
function refuseDowngrade(question: TrustQuestion, signature: SignatureJudgement): Refusal | undefined {
  const { installed } = question;
  if (installed === undefined) return undefined;
  const level = signature.state === 'verified' ? signature.level : 'unsigned';
  const downgrade = (now: string, before: string): Refusal =>
    refuse(
      question,
      'pack_trust_downgrade',
      `it ${now}, while the installed ${installed.version} ${before}.`,
    );
  if (TRUST_LEVELS.indexOf(level) < TRUST_LEVELS.indexOf(installed.level))
    return downgrade(`is ${level}`, `is ${installed.level}`);
  const { covers = 'manifest' } = installed;
  if (signature.state !== 'verified' || signature.covers !== 'manifest' || covers === 'manifest')
    return undefined;
  return downgrade('has a signature over pack.json only', `has one over its ${covers}`);
}

/** Going back to a version with known holes is somebody's decision, never a side effect. */
function refuseOlder(question: TrustQuestion): Refusal | undefined {
  const { pack, installed, allowsOlder = false } = question;
  if (installed === undefined || allowsOlder || !semver.lt(pack.version, installed.version)) return undefined;
  const why = `it is older than the installed ${installed.version}, which it would replace.`;
  const next = 'Ask for exactly this version, or for an archive add --older (older=true).';
  return refuse(question, 'pack_trust_downgrade', why, next);
}

function refuseWithdrawn(question: TrustQuestion): Refusal | undefined {
  if (question.isExact) return undefined;
  const [first] = withdrawals(question);
  return first && refuse(question, first.code, first.text);
}

/** Why the version should not be used, though one who asks for exactly it gets it, with these as warnings. */
function withdrawals(question: TrustQuestion): { code: ErrorCode; text: string }[] {
  const { pack, record, advisories } = question;
  const yanked = record?.yanked;
  return [
    ...(yanked
      ? [
          {
            code: 'pack_version_yanked' as const,
            text: `it is yanked: ${yanked.reason ?? 'no reason given'}.`,
          },
        ]
      : []),
    ...exposures(pack, advisories).map(({ advisory, fixedIn }) => ({
      code: 'pack_version_vulnerable' as const,
      text: `${advisory.id} (${advisory.severity}): ${advisory.summary}${fixedIn ? `; fixed in ${fixedIn}` : ''}.`,
    })),
  ];
}

function warnings(question: TrustQuestion, integrity: string, signature: SignatureJudgement): string[] {
  const { record, installed, policy, pins = [] } = question;
  const { name, version } = question.pack;
  const found = withdrawals(question).map(({ text }) => text);
  const deprecated = record?.deprecated;
  if (deprecated) {
    const instead = deprecated.supersededBy === undefined ? '' : `; superseded by ${deprecated.supersededBy}`;
    found.push(`it is deprecated: ${deprecated.reason ?? 'no reason given'}${instead}.`);
  }
  if (signature.state === 'unsigned') found.push('it is not signed.');
  if (signature.state === 'unverifiable') found.push(signature.message);
  if (signature.state !== 'verified') return found.map((text) => `${nameOf(question)}: ${text}`);
  if (signature.covers === 'manifest' && !isPinned({ policy, pack: { name, version, integrity }, pins }))
    found.push('its signature covers pack.json only; pin the integrity to hold the code.');
  if (installed?.signedBy !== undefined && installed.signedBy !== signature.signedBy)
    found.push(`it is signed by ${signature.signedBy}, the installed version by ${installed.signedBy}.`);
  return found.map((text) => `${nameOf(question)}: ${text}`);
}
