import Type from 'typebox';

const optional = Type.Optional;

export const REPLAY_EVENT_PAYLOADS = {
  'replay.diverged': Type.Object({
    sourceRunId: Type.String({ minLength: 1 }),
    atSequence: Type.Integer({ minimum: 0 }),
    originalEventId: optional(Type.String()),
    divergenceKind: optional(Type.Enum(['output', 'missing', 'extra', 'type-mismatch'])),
    /** Type of the event that came out differently. */
    divergencePoint: optional(Type.String()),
  }),
} as const;
