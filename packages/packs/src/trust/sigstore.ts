import { bundleFromJSON, isBundleWithMessageSignature } from '@sigstore/bundle';
import { TrustedRoot } from '@sigstore/protobuf-specs';
import { PolicyError, toSignedEntity, toTrustMaterial, VerificationError, Verifier } from '@sigstore/verify';
import type { SigstoreTrust } from './trust-file.ts';

export type SigstoreJudgement =
  | { readonly verified: true; readonly signer: SigstoreTrust['signers'][number] }
  | { readonly verified: false; readonly reason: 'invalid' | 'untrusted'; readonly message: string };

const refused = (reason: 'invalid' | 'untrusted', message: string): SigstoreJudgement => ({
  verified: false,
  reason,
  message,
});

/** Verifies a bundle over `message`: certificate chain, log entry, timestamp, signature, then the signer. */
export function verifySigstore(
  bundle: unknown,
  message: Uint8Array,
  trust: SigstoreTrust,
): SigstoreJudgement {
  try {
    const parsed = bundleFromJSON(bundle);
    // An attestation is a statement about an artifact; only a signature of the manifest itself is accepted.
    if (!isBundleWithMessageSignature(parsed))
      return refused('invalid', 'The bundle holds no message signature.');
    const verifier = new Verifier(toTrustMaterial(TrustedRoot.fromJSON(trust.trustedRoot)));
    const { identity } = verifier.verify(toSignedEntity(parsed, Buffer.from(message)));
    const issuer = identity?.extensions?.issuer ?? '';
    const subject = identity?.subjectAlternativeName ?? '';
    const signer = trust.signers.find((one) => one.issuer === issuer && one.subject === subject);
    return signer
      ? { verified: true, signer }
      : refused('untrusted', `${subject.slice(0, 256)} is not an expected signer.`);
  } catch (error) {
    const detail =
      error instanceof VerificationError || error instanceof PolicyError ? ` (${error.code})` : '';
    return refused('invalid', `The Sigstore bundle does not verify${detail}.`);
  }
}
