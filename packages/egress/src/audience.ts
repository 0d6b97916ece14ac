/**
 * Decides whether a credential may be sent to a destination. Pure.
 *
 * A1 A credential is only sent to its audiences: an exact host, or a `*.domain` suffix.
 * A2 Anything undecidable is denied: no provenance, no audience, an audience of neither form.
 * A3 A decision contains ids and the authority of the destination, never a path, a query or a value.
 */

/** The known facts about a credential. Never its value. */
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
  /** Host and port only. */
  readonly destination: string;
  readonly credentialId?: string;
  readonly reason?: EgressDecisionReason;
  readonly auditCorrelationId?: string;
}

export interface AudiencePolicy {
  /** Hosts of the API that the credential is for, from a connection pack: equal to one, or a subdomain of it. */
  readonly apiHosts?: readonly string[] | undefined;
  /** The operator's choice for destinations outside the audiences; `deny` if absent. */
  readonly outOfAudience?: 'deny' | 'downgrade' | undefined;
}

/** A credential with its value, for one request. */
export interface EgressCredential {
  readonly provenance: CredentialProvenance;
  readonly header: string;
  /** As sent, with its prefix. */
  readonly value: string;
  readonly apiHosts?: readonly string[];
  /** Returns a new value for the same credential after a 401. */
  readonly renew?: () => Promise<EgressCredential>;
}

const LABEL = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?';
const NAME = new RegExp(`^(?=.{1,253}$)${LABEL}(?:\\.${LABEL})*$`);
const ADDRESS = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]{2,45}\])$/;
const SUFFIX = '*.';

/** A1. A suffix has at least two labels: `*.com` would match half of the internet. */
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
    // `example.com:8443`; without the default port of its scheme
    destination: url.host,
    ...(credentialId !== undefined && { credentialId }),
    reason,
    ...(auditCorrelationId !== undefined && { auditCorrelationId }),
  };
}
