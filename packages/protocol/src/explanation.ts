import Type, { type Static } from 'typebox';
import { RunError, RunStatus } from './run.ts';
import { optional } from './schema.ts';

const optionalText = optional(Type.String());

/** Why a run is in its current state, in plain words, and what can be done. An extension of this host. */
export const RunExplanation = Type.Object({
  runId: Type.String(),
  status: RunStatus,
  summary: Type.String(),
  since: optionalText,
  waitingFor: Type.Array(
    Type.Object({
      kind: Type.String(),
      nodeId: optionalText,
      since: Type.String(),
      wakesAt: optionalText,
      text: Type.String(),
    }),
  ),
  cause: optional(Type.Object({ sequence: optional(Type.Integer()), nodeId: optionalText, error: RunError })),
  notes: optional(Type.Array(Type.String())),
  actions: Type.Array(
    Type.Object({ action: Type.String(), method: Type.String(), path: Type.String(), text: Type.String() }),
  ),
});
export type RunExplanation = Static<typeof RunExplanation>;
