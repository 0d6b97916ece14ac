/**
 * Decides about values of credentials that pack code puts into a request: in whatever encoding, they are sent to
 * audiences of their credential only.
 */
import { decideEgress, type EgressDecision, egressDecision, type Outgoing } from '@gantry/egress';
import { createRedactor, type SecretValue } from '@gantry/protocol/redaction';
import type { Redactions } from '../redaction/redactions.ts';
import type { CredentialReach, Credentials } from './credentials.ts';

export interface CarriedSecretsOptions {
  readonly credentials: Pick<Credentials, 'reach'>;
  readonly redactions: Pick<Redactions, 'of'>;
  readonly now: () => number;
}

export const carriedSecrets =
  ({ credentials, redactions, now }: CarriedSecretsOptions) =>
  async (tenant: string, url: string, request: Outgoing): Promise<EgressDecision | undefined> => {
    const redactor = redactions.of(tenant);
    const texts = redactor.isEmpty ? [] : textsOf(url, request);
    const secrets = texts.flatMap((text) => [...redactor.found(text)]);
    const decisions = new Map<string, EgressDecision>();
    for (const label of new Set(secrets.map((secret) => secret.label)))
      decisions.set(label, decided(label, await credentials.reach(tenant, label), new URL(url), now()));
    // Credentials may have a value or a part in common, which may go to the audiences of each of them
    const isAllowed = ({ label }: SecretValue): boolean => decisions.get(label)?.decision === 'allowed';
    const allowed = secrets.filter(isAllowed);
    const remover = createRedactor(allowed);
    const left = texts.flatMap((text) => [...redactor.found(remover.redact(text))]);
    const [decisive] = [...left, ...allowed];
    return decisive && decisions.get(decisive.label);
  };

function decided(credentialId: string, reach: CredentialReach | null, url: URL, now: number): EgressDecision {
  if (reach) return decideEgress(reach.provenance, url, now, { apiHosts: reach.apiHosts });
  return egressDecision({ credentialId, issuer: 'host', audiences: [] }, url, 'denied', 'policy-denied');
}

const textsOf = (url: string, { headers, body }: Outgoing): string[] => {
  const texts = [url, ...[...headers].flat()];
  // One character per byte: the forms of a value include its UTF-8 bytes like this
  return body
    ? [...texts, Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1')]
    : texts;
};
