/**
 * Whether a credential may be sent to a destination. Pure.
 *
 * A1 A credential goes to its audiences alone: an exact host, or a `*.domain` that ends like it.
 * A2 What cannot be judged is denied: no provenance, no audience, an audience that is neither of the two forms.
 * A3 A decision has ids and the authority of the destination, never a path, a query or a value.
 */

/** What is known about a credential. Never its value. */
export interface CredentialProvenance {
  readonly credentialId: string;
  readonly issuer: string;
  readonly audiences: readonly string[];
  readonly scopes?: readonly string[];
  /** ISO 8601. */
  readonly expiresAt?: string;
  readonly redactionPolicy?: 'always' | 'hash' | 'host-policy';
  readonly auditCorrelationId?: string;
}

export type EgressDecisionReason =
  | 'ok'
  | 'out-of-audience'
  | 'expired'
  | 'ssrf-blocked'
  | 'provenance-unevaluable'
  | 'scope-denied'
  | 'policy-denied';

/** `downgraded`: sent without the credential. */
export interface EgressDecision {
  readonly decision: 'allowed' | 'denied' | 'downgraded';
  /** Host and port alone. */
  readonly destination: string;
  readonly credentialId?: string;
  readonly reason?: EgressDecisionReason;
  readonly auditCorrelationId?: string;
}

export interface AudiencePolicy {
  /** Hosts of the API that the credential is for, by a connection pack: equal, or below it. */
  readonly apiHosts?: readonly string[] | undefined;
  /** What the operator wants for other destinations than the audiences; `deny` when absent. */
  readonly outOfAudience?: 'deny' | 'downgrade' | undefined;
}

/** A credential that was opened for one request. */
export interface EgressCredential {
  readonly provenance: CredentialProvenance;
  readonly header: string;
  /** With its prefix, as it is sent. */
  readonly value: string;
  readonly apiHosts?: readonly string[];
  /** Another value for the same, where this one was refused with 401. */
  readonly renew?: () => Promise<EgressCredential>;
}

const LABEL = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?';
const NAME = new RegExp(`^(?=.{1,253}$)${LABEL}(?:\\.${LABEL})*$`);
const ADDRESS = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]{2,45}\])$/;
const SUFFIX = '*.';

/** A1. A suffix has at least two labels: `*.com` would be half of the internet. */
export function isAudience(text: string): boolean {
  if (!text.startsWith(SUFFIX)) return NAME.test(text) || ADDRESS.test(text);
  const domain = text.slice(SUFFIX.length);
  return NAME.test(domain) && domain.includes('.') && !ADDRESS.test(domain);
}

function matches(audience: string, host: string): boolean {
  return audience.startsWith(SUFFIX) ? host.endsWith(audience.slice(1)) : host === audience;
}

const plain = (hostname: string): string => hostname.toLowerCase().replace(/\.$/, '');

export function decideEgress(
  provenance: CredentialProvenance | null,
  url: URL,
  now: number,
  { apiHosts, outOfAudience = 'deny' }: AudiencePolicy = {},
): EgressDecision {
  const decided = (decision: EgressDecision['decision'], reason: EgressDecisionReason): EgressDecision =>
    egressDecision(provenance, url, decision, reason);
  if (provenance === null) return decided('denied', 'provenance-unevaluable');
  const { audiences, expiresAt } = provenance;
  const isKnown = Array.isArray(audiences) && audiences.length > 0 && audiences.every(isAudience);
  const ends = expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiresAt);
  if (!isKnown || Number.isNaN(ends)) return decided('denied', 'provenance-unevaluable');
  if (ends <= now) return decided('denied', 'expired');
  const host = plain(url.hostname);
  const isApi = apiHosts?.some((api) => host === api || host.endsWith(`.${api}`)) ?? true;
  if (isApi && audiences.some((audience) => matches(audience, host))) return decided('allowed', 'ok');
  return decided(outOfAudience === 'downgrade' ? 'downgraded' : 'denied', 'out-of-audience');
}

export function egressDecision(
  provenance: CredentialProvenance | null,
  url: URL,
  decision: EgressDecision['decision'],
  reason: EgressDecisionReason,
): EgressDecision {
  const { credentialId, auditCorrelationId } = provenance ?? {};
  return {
    decision,
    // `example.com:8443`; without the port that its scheme has anyway
    destination: url.host,
    ...(credentialId !== undefined && { credentialId }),
    reason,
    ...(auditCorrelationId !== undefined && { auditCorrelationId }),
  };
}
