import { ERRORS, type ErrorCode } from '@gantry/protocol';
import { exposures, type SecurityAdvisory } from './advisory.ts';
import { integrityOf } from './integrity.ts';
import { type PolicyBreach, policyBreach, type TrustPolicy } from './policy.ts';
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
  readonly pack: Omit<SignedPack, 'publishedAt'> & { readonly version: string };
  /** Absent for an archive that an operator hands over. */
  readonly record?: RegistryRecord;
  readonly policy: TrustPolicy;
  readonly trust: Trust;
  readonly advisories: readonly SecurityAdvisory[];
  /** What an upgrade would replace. */
  readonly installed?: { readonly version: string; readonly level: TrustLevel; readonly signedBy?: string };
  /** Somebody asked for exactly this version; ranges never choose a withdrawn one. */
  readonly isExact: boolean;
}

export type TrustJudgement =
  | {
      readonly trusted: true;
      readonly level: TrustLevel;
      readonly signedBy?: string;
      readonly integrity: string;
      readonly warnings: readonly string[];
    }
  | { readonly trusted: false; readonly code: ErrorCode; readonly message: string; readonly next: string };

type Refusal = TrustJudgement & { trusted: false };

/** May this archive be installed under this policy? The first reason against it is the answer. */
export async function judgeTrust(question: TrustQuestion): Promise<TrustJudgement> {
  const { pack, record, trust, policy } = question;
  const { name, version } = pack;
  const integrity = integrityOf(pack.archive);
  const publishedAt = record?.publishedAt;
  const signature = await judgeSignature(
    { ...pack, ...(publishedAt === undefined ? {} : { publishedAt }) },
    trust,
  );
  const level = signature.state === 'verified' ? signature.level : 'unsigned';
  const refusal =
    refuseIntegrity(question, integrity) ??
    refuseSignature(question, signature) ??
    refuseBreach(question, policyBreach(policy, { name, version, integrity }, signature)) ??
    refuseDowngrade(question, level) ??
    refuseWithdrawn(question);
  if (refusal !== undefined) return refusal;
  const signedBy = signature.state === 'verified' ? { signedBy: signature.signedBy } : {};
  return { trusted: true, level, ...signedBy, integrity, warnings: warnings(question, signature) };
}

const nameOf = ({ pack }: TrustQuestion): string => `${pack.name}@${pack.version}`;

function refuse(question: TrustQuestion, code: ErrorCode, why: string): Refusal {
  return { trusted: false, code, message: `${nameOf(question)}: ${why}`, next: ERRORS[code].next };
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

/** A signature that is there and wrong is refused in every mode. */
function refuseSignature(question: TrustQuestion, signature: SignatureJudgement): Refusal | undefined {
  if (signature.state === 'invalid') return refuse(question, 'pack_signature_invalid', signature.message);
  if (signature.state === 'unauthorized')
    return refuse(question, 'pack_namespace_unauthorized', signature.message);
  return undefined;
}

const refuseBreach = (question: TrustQuestion, breach: PolicyBreach | undefined): Refusal | undefined =>
  breach && refuse(question, breach.code, breach.why);

function refuseDowngrade(question: TrustQuestion, level: TrustLevel): Refusal | undefined {
  const { installed } = question;
  if (installed === undefined || TRUST_LEVELS.indexOf(level) >= TRUST_LEVELS.indexOf(installed.level))
    return undefined;
  return refuse(
    question,
    'pack_trust_downgrade',
    `it is ${level}, while the installed ${installed.version} is ${installed.level}.`,
  );
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

function warnings(question: TrustQuestion, signature: SignatureJudgement): string[] {
  const { record, installed } = question;
  const found = withdrawals(question).map(({ text }) => text);
  const deprecated = record?.deprecated;
  if (deprecated) {
    const instead = deprecated.supersededBy === undefined ? '' : `; superseded by ${deprecated.supersededBy}`;
    found.push(`it is deprecated: ${deprecated.reason ?? 'no reason given'}${instead}.`);
  }
  if (signature.state === 'unsigned') found.push('it is not signed.');
  if (signature.state === 'unverifiable') found.push(signature.message);
  if (signature.state !== 'verified') return found.map((text) => `${nameOf(question)}: ${text}`);
  if (signature.covers === 'manifest' && record === undefined)
    found.push('its signature covers pack.json only; pin the integrity to hold the code.');
  if (installed?.signedBy !== undefined && installed.signedBy !== signature.signedBy)
    found.push(`it is signed by ${signature.signedBy}, the installed version by ${installed.signedBy}.`);
  return found.map((text) => `${nameOf(question)}: ${text}`);
}
