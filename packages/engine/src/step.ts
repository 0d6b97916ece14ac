import { eventId, type JsonObject, type RunEvent } from '@gantry/protocol';
import { type Draft, draftOf, foldInto } from './apply.ts';
import type { MadeArtifact } from './artifacts/artifact.ts';
import type { Cause } from './command.ts';
import type { Plan } from './plan.ts';
import { redactEvent } from './redact.ts';
import type { Run } from './run.ts';

/** The state of one `decide`: it emits events, and each is folded at once. */
export interface Step {
  readonly plan: Plan;
  readonly run: Draft;
  readonly events: RunEvent[];
  /** The artifacts of the `artifact.created` events. */
  readonly artifacts: MadeArtifact[];
  readonly now: number;
  /** The cause of the events that are being recorded. */
  cause?: Cause | undefined;
  /** Why the command was refused. */
  refusal?: Refusal;
}

/** A command that cannot be performed, with a code of the error catalogue. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly details?: JsonObject;
}

export const openStep = (plan: Plan, run: Run, now: number): Step => ({
  plan,
  run: draftOf(run),
  events: [],
  artifacts: [],
  now,
});

export function emit(step: Step, type: string, payload: JsonObject, sealed?: JsonObject): void {
  record(step, sealed ? { type, at: step.now, payload, sealed } : { type, at: step.now, payload });
}

export function emitNode(
  step: Step,
  nodeId: string,
  type: string,
  payload: JsonObject,
  sealed?: JsonObject,
): void {
  const event = { type, at: step.now, nodeId, payload };
  record(step, sealed ? { ...event, sealed } : event);
}

/** Emits an event that is caused by an earlier one of this run. Returns its sequence. */
export function emitCaused(
  step: Step,
  causeSeq: number | undefined,
  event: {
    readonly type: string;
    readonly nodeId?: string;
    readonly payload: JsonObject;
    readonly sealed?: JsonObject;
    readonly contentTrust?: 'untrusted';
  },
): number {
  const cause = causeSeq === undefined ? {} : { causationId: eventId(step.run.facts.runId, causeSeq) };
  record(step, { ...event, ...cause, at: step.now });
  return step.run.nextSeq - 1;
}

export function record(step: Step, decided: RunEvent): void {
  const caused = step.cause ? { ...decided, ...step.cause } : decided;
  const event = redactEvent(caused, step.plan.redact);
  step.events.push(event);
  foldInto(step.run, event);
}

/** Milliseconds since the run started; 0 if the clock went backwards. */
export const durationOf = (step: Step): number => Math.max(0, step.now - (step.run.startedAt ?? step.now));
