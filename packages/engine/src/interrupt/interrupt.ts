import type { InterruptKind, Json, JsonObject } from '@gantry/protocol';

/** What a node asks of the world outside. */
export interface InterruptRequest {
  readonly kind: InterruptKind;
  readonly data: JsonObject;
  readonly resumeSchema?: JsonObject;
  readonly timeoutMs?: number;
  /** Shown on `node.suspended`: `low-confidence`, `conversation-input`. */
  readonly reason?: string;
  /** More fields of `node.suspended`, such as `agentId`. */
  readonly suspendedWith?: JsonObject;
  /** What the node wants to know again when the answer comes. Never shown. */
  readonly memo?: JsonObject;
  /** Permissions to answer. Absent: everyone with access to the API. */
  readonly rules?: AnswerRules;
}

/** Enforced before a value counts; part of the log, so that a fold knows them. */
export interface AnswerRules {
  /** The resolver must have both, where both are named. */
  readonly requiredRole?: string;
  readonly requiredScope?: string;
  /** The resolver must come with a credential: a signed token alone is not enough. */
  readonly authRequired?: true;
  /** The role that may decide against the quorum, giving a reason. */
  readonly overrideRole?: string;
  /** Such a decision ends the interrupt at once; else it counts as one vote. */
  readonly overrideBypassesQuorum?: true;
  /** Events and codes of the governance gate. */
  readonly governance?: true;
}

export interface Vote {
  readonly voter: string;
  readonly approve: boolean;
  /** Given by someone with the role to override the gate. */
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
  /** When it is answered for everyone: rejected. */
  readonly expiresAt?: number;
  /** Sequence of the `node.suspended` event. */
  readonly suspendedSeq: number;
  readonly votes: readonly Vote[];
  readonly memo?: JsonObject;
  readonly rules?: AnswerRules;
  /** Principals that were refused, and are on record for it: the log does not grow with every further attempt. */
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

/** Answers that no person gave: a deadline, an envelope. */
export const BY_TIMEOUT = 'host:timeout';
export const BY_ENVELOPE = 'host:envelope';

/** The author of an answer. */
export interface Resolver {
  /** Opaque and never empty: an API key, a token's holder. */
  readonly principal: string;
  readonly roles: readonly string[];
  readonly scopes: readonly string[];
  /** Groups that the host's directory knows the resolver to be in. */
  readonly groups?: readonly string[];
  /** Came with a credential of their own, not with a signed token alone. */
  readonly authenticated: boolean;
  /** `principal` is the person that the token was made for, and no other token was. */
  readonly named?: true;
}

/** An answer that counted: what the node gets to see. */
export interface Answer {
  readonly interrupt: Interrupt;
  /** In one form for each kind, whatever form it was sent in; null when time was over. */
  readonly value: Json;
  /** Rejected by a person, by the quorum, or by time. */
  readonly rejected?: 'reject' | 'timeout';
  readonly by: string;
}
