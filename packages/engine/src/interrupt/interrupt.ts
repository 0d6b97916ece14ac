import type { InterruptKind, Json, JsonObject } from '@gantry/protocol';

/** A request of a node for external input. */
export interface InterruptRequest {
  readonly kind: InterruptKind;
  readonly data: JsonObject;
  readonly resumeSchema?: JsonObject;
  readonly timeoutMs?: number;
  /** Shown on `node.suspended`: `low-confidence`, `conversation-input`. */
  readonly reason?: string;
  /** More fields of `node.suspended`, such as `agentId`. */
  readonly suspendedWith?: JsonObject;
  /** Data that the node needs when the answer arrives. Never shown. */
  readonly memo?: JsonObject;
  /** Permissions to answer. If absent, everyone with access to the API may answer. */
  readonly rules?: AnswerRules;
}

/** Enforced before an answer is accepted; part of the log, so that the fold knows them. */
export interface AnswerRules {
  /** The resolver must have both, if both are set. */
  readonly requiredRole?: string;
  readonly requiredScope?: string;
  /** The resolver must have a credential: a signed token alone is not enough. */
  readonly authRequired?: true;
  /** The role that may override the quorum with a reason. */
  readonly overrideRole?: string;
  /** An override closes the interrupt at once; else it counts as one vote. */
  readonly overrideBypassesQuorum?: true;
  /** Events and codes of the governance gate. */
  readonly governance?: true;
}

export interface Vote {
  readonly voter: string;
  readonly approve: boolean;
  /** What the voter wrote: a comment, or the reason of a rejection. */
  readonly comment?: string;
  /** Cast by a resolver with the role to override the gate. */
  readonly overrides?: true;
}

/** An open interrupt. */
export interface Interrupt {
  readonly interruptId: string;
  readonly key: string;
  readonly kind: InterruptKind;
  readonly data: JsonObject;
  readonly resumeSchema?: JsonObject;
  readonly requestedAt: number;
  /** When it expires: it is then closed as rejected. */
  readonly expiresAt?: number;
  /** Sequence of the `node.suspended` event. */
  readonly suspendedSeq: number;
  readonly votes: readonly Vote[];
  readonly memo?: JsonObject;
  readonly rules?: AnswerRules;
  /** Principals whose refusal is recorded: further attempts do not grow the log. */
  readonly denied?: readonly string[];
  /** Only for conversations; `turns` is the index of the next one. */
  readonly conversation?: {
    readonly conversationId: string;
    readonly turns: number;
    readonly closed?: true;
  };
}

export const hasExpired = ({ expiresAt = Number.POSITIVE_INFINITY }: Interrupt, now: number): boolean =>
  expiresAt <= now;

/** The authors of automatic answers: a deadline, an envelope. */
export const BY_TIMEOUT = 'host:timeout';
export const BY_ENVELOPE = 'host:envelope';

/** The author of an answer. */
export interface Resolver {
  /** Opaque and never empty: an API key, a token's holder. */
  readonly principal: string;
  readonly roles: readonly string[];
  readonly scopes: readonly string[];
  /** Groups of the resolver in the host's directory. */
  readonly groups?: readonly string[];
  /** The resolver has a credential, not only a signed token. */
  readonly authenticated: boolean;
  /** `principal` is the person that the token was issued for, and the only token for that person. */
  readonly named?: true;
}

/** An accepted answer, as the node sees it. */
export interface Answer {
  readonly interrupt: Interrupt;
  /** Normalized for each kind, whatever form it was sent in; null on timeout. */
  readonly value: Json;
  /** Rejected by a person, by the quorum, or by timeout. */
  readonly rejected?: 'reject' | 'timeout';
  readonly by: string;
}
