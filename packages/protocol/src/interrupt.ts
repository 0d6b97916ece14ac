import Type, { type Static } from 'typebox';
import { RunStatus } from './run.ts';
import { closedObject, optional, Values } from './schema.ts';

/** Body of an answer. Closed. The question defines the valid `resumeValue`. */
export const ResolveInterruptRequest = closedObject({ resumeValue: Type.Unknown() });

export const ResolveInterruptResponse = Type.Object({
  runId: Type.String(),
  nodeId: Type.String(),
  status: RunStatus,
  /** False if the answer was already counted: the same vote, or the same delivery of an event. */
  changed: optional(Type.Literal(false)),
  /** While a quorum is open. */
  votes: optional(
    Type.Object({ granted: Type.Integer(), rejected: Type.Integer(), required: Type.Integer() }),
  ),
});
export type ResolveInterruptResponse = Static<typeof ResolveInterruptResponse>;

export const InterruptVote = Type.Object({
  voter: Type.String(),
  approve: Type.Boolean(),
  /** What the voter wrote: a comment, or the reason of a rejection. */
  comment: optional(Type.String()),
});
export type InterruptVote = Static<typeof InterruptVote>;

/** An open question: the response of its `GET`. */
export const OpenInterrupt = Type.Object({
  runId: Type.String(),
  workflowId: Type.String(),
  nodeId: Type.String(),
  interruptId: Type.String(),
  kind: Type.String(),
  key: Type.String(),
  data: Values,
  resumeSchema: optional(Values),
  requestedAt: Type.String(),
  /** When the question is rejected automatically. */
  deadline: optional(Type.String()),
  /** When the token of this request expires. */
  expiresAt: optional(Type.String()),
  votes: optional(Type.Array(InterruptVote)),
});
export type OpenInterrupt = Static<typeof OpenInterrupt>;

/** `POST /v1/host/gantry/runs/{runId}/interrupts/{nodeId}/links`. */
export const InterruptLinkRequest = closedObject({ person: Type.String({ minLength: 1, maxLength: 128 }) });

/** A person who opens it answers as `person`, without a key. */
export const InterruptLink = Type.Object({
  person: Type.String(),
  url: Type.String(),
  expiresAt: Type.String(),
});
export type InterruptLink = Static<typeof InterruptLink>;

export const OpenInterrupts = Type.Object({
  interrupts: Type.Array(OpenInterrupt),
  nextBefore: optional(Type.String()),
});
export type OpenInterrupts = Static<typeof OpenInterrupts>;
