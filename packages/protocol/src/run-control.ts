import Type, { type Static } from 'typebox';
import { DrainPolicy, RunError, RunStatus } from './run.ts';
import { closedObject, optional } from './schema.ts';

const RunId = Type.String({ minLength: 1, maxLength: 128 });

export const CONTROL_LIMITS = { reasonLengthMax: 512, bulkRunIdsMax: 100 } as const;

const Reason = Type.String({ maxLength: CONTROL_LIMITS.reasonLengthMax });

export const CancelRunRequest = closedObject({ reason: optional(Reason) });
export type CancelRunRequest = Static<typeof CancelRunRequest>;

export const CancelRunResponse = Type.Object({ runId: RunId, status: RunStatus });
export type CancelRunResponse = Static<typeof CancelRunResponse>;

export const BulkCancelRequest = closedObject({
  runIds: Type.Array(RunId, { minItems: 1, maxItems: CONTROL_LIMITS.bulkRunIdsMax }),
  reason: optional(Reason),
});

export const BulkCancelResult = Type.Union([
  Type.Object({ runId: RunId, ok: Type.Literal(true), status: RunStatus }),
  /** `error.error` repeats the code, as in the error envelope. */
  Type.Object({
    runId: RunId,
    ok: Type.Literal(false),
    error: Type.Object({ ...RunError.properties, error: Type.String() }),
  }),
]);
export type BulkCancelResult = Static<typeof BulkCancelResult>;

/** One result per id, in the order of the request. */
export const BulkCancelResponse = Type.Object({ results: Type.Array(BulkCancelResult) });
export type BulkCancelResponse = Static<typeof BulkCancelResponse>;

export const PauseRunRequest = closedObject({ reason: optional(Reason), drainPolicy: optional(DrainPolicy) });
export type PauseRunRequest = Static<typeof PauseRunRequest>;

export const PauseRunResponse = Type.Object({
  runId: RunId,
  status: Type.Literal('paused'),
  pausedAt: Type.String(),
});
export type PauseRunResponse = Static<typeof PauseRunResponse>;

export const ResumeRunRequest = closedObject({ reason: optional(Reason) });
export type ResumeRunRequest = Static<typeof ResumeRunRequest>;

export const ResumeRunResponse = Type.Object({
  runId: RunId,
  status: Type.Literal('running'),
  resumedAt: Type.String(),
});
export type ResumeRunResponse = Static<typeof ResumeRunResponse>;
