import Type, { type Static } from 'typebox';
import { RunStatus } from './run.ts';
import { closedObject, optional, Values } from './schema.ts';

/** Body of an answer. Closed; what `resumeValue` must be is the question's own matter. */
export const ResolveInterruptRequest = closedObject({ resumeValue: Type.Unknown() });

export const ResolveInterruptResponse = Type.Object({
  runId: Type.String(),
  nodeId: Type.String(),
  status: RunStatus,
  /** False when the answer was counted before: the same vote, the same delivery of an event. */
  changed: optional(Type.Literal(false)),
  /** While a quorum is open. */
  votes: optional(
    Type.Object({ granted: Type.Integer(), rejected: Type.Integer(), required: Type.Integer() }),
  ),
});
export type ResolveInterruptResponse = Static<typeof ResolveInterruptResponse>;

/** A question that is open: what `GET` of it answers. */
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
  /** When the question is answered for everyone: rejected. */
  deadline: optional(Type.String()),
  /** When the token that was used for looking stops working. */
  expiresAt: optional(Type.String()),
  votes: optional(Type.Array(Type.Object({ voter: Type.String(), approve: Type.Boolean() }))),
});
export type OpenInterrupt = Static<typeof OpenInterrupt>;

/** `POST /v1/host/gantry/runs/{runId}/interrupts/{nodeId}/links`. */
export const InterruptLinkRequest = closedObject({ person: Type.String({ minLength: 1, maxLength: 128 }) });

/** Whoever opens it answers as this person, without a key. */
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
