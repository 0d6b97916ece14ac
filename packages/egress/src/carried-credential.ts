/** The credential of one request: checked for each destination, sent only to the first origin. */
import {
  type AudiencePolicy,
  decideEgress,
  type EgressCredential,
  type EgressDecision,
  egressDecision,
} from './audience.ts';
import { EgressError, type EgressReason, egressProblem } from './error.ts';
import { checkHeader, type Outgoing } from './outgoing.ts';

export interface CredentialTerms {
  readonly credential?: EgressCredential | undefined;
  /** Called with every decision about the credential, before anything is sent. */
  readonly onDecision?: ((decision: EgressDecision) => void | Promise<void>) | undefined;
  /**
   * Decides about secrets in the request itself, for each destination, before its name is resolved. Undefined if there
   * are none.
   */
  readonly inspect?: ((url: string, request: Outgoing) => Promise<EgressDecision | undefined>) | undefined;
}

export interface CredentialJudge extends Pick<AudiencePolicy, 'outOfAudience'> {
  /** Wall clock time in milliseconds, for expiry. */
  readonly wallTime: () => number;
}

/** Reasons for which the destination itself may not be called. */
const BLOCKED: ReadonlySet<EgressReason> = new Set([
  'scheme_not_allowed',
  'credentials_in_url',
  'host_not_allowed',
  'address_not_allowed',
  'port_not_allowed',
]);

const DENIED: Partial<Record<NonNullable<EgressDecision['reason']>, string>> = {
  'out-of-audience': 'is not among the audiences of the credential.',
  expired: 'was not called: the credential has expired.',
  'provenance-unevaluable': 'was not called: the credential has no audience that can be judged.',
};

/** Rejects if the request itself contains a secret that may not be sent there. */
export async function assertMayCarry(
  { inspect, onDecision }: Pick<CredentialTerms, 'inspect' | 'onDecision'>,
  url: string,
  request: Outgoing,
): Promise<void> {
  const decided = await inspect?.(url, request);
  if (!decided) return;
  await onDecision?.(decided);
  if (decided.decision !== 'allowed') throw new EgressError(denialOf(decided));
}

export class CarriedCredential {
  readonly #credential: EgressCredential;
  readonly #header: string;
  readonly #terms: CredentialTerms;
  readonly #judge: CredentialJudge;
  #origin: string | undefined;
  #hasLeft = false;

  constructor(credential: EgressCredential, terms: CredentialTerms, judge: CredentialJudge) {
    this.#credential = credential;
    this.#header = credential.header.toLowerCase();
    this.#terms = terms;
    this.#judge = judge;
    checkHeader(this.#header, credential.value);
  }

  /** A decision is also made if the destination cannot be reached. `find` resolves its addresses. */
  async guarding<T>(url: string, find: () => Promise<T>): Promise<T> {
    try {
      return await find();
    } catch (error) {
      const target = URL.parse(url);
      if (target && this.#isForIt(target) && error instanceof EgressError)
        await this.#terms.onDecision?.(this.#decide(target, BLOCKED.has(error.reason)));
      throw error;
    }
  }

  /** Returns the request for this destination. Rejects if the credential may not be sent there. */
  async attach(url: URL, message: Outgoing): Promise<Outgoing> {
    const headers = new Map(message.headers);
    // A value that a library sets there is a placeholder for the credential
    headers.delete(this.#header);
    // Another origin could redirect it to any path of the first origin
    this.#hasLeft ||= !this.#isForIt(url);
    if (this.#hasLeft) return { ...message, headers };
    this.#origin = url.origin;
    const decided = this.#decide(url, false);
    await this.#terms.onDecision?.(decided);
    if (decided.decision === 'allowed') headers.set(this.#header, this.#credential.value);
    else if (decided.decision !== 'downgraded') throw new EgressError(denialOf(decided));
    return { ...message, headers };
  }

  /** Redirects to another origin are sent without it, like `Authorization`. */
  #isForIt({ origin }: URL): boolean {
    return !this.#hasLeft && (this.#origin ?? origin) === origin;
  }

  #decide(url: URL, isBlocked: boolean): EgressDecision {
    const { provenance, apiHosts } = this.#credential;
    if (isBlocked) return egressDecision(provenance, url, 'denied', 'ssrf-blocked');
    const { outOfAudience, wallTime } = this.#judge;
    return decideEgress(provenance, url, wallTime(), { apiHosts, outOfAudience });
  }
}

function denialOf({ destination, reason = 'policy-denied' }: EgressDecision) {
  const happened = `${destination} ${DENIED[reason] ?? 'may not get the credential.'}`;
  return egressProblem('credential_not_allowed', happened);
}
