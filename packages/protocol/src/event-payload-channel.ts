import Type from 'typebox';

const optional = Type.Optional;
const Text = Type.String({ minLength: 1 });

export const CHANNEL_EVENT_PAYLOADS = {
  /** `value` is what was written, not what the channel then held; with a `ttlMs` it is `{ value, _ts }`. */
  'channel.written': Type.Object({
    channel: Type.String({ minLength: 1, maxLength: 256 }),
    value: Type.Unknown(),
    reducer: Text,
    writtenAt: Text,
    nodeId: optional(Text),
    schemaVersion: optional(Type.Integer({ minimum: 1 })),
    sourceEngineId: optional(Text),
    sourceRunId: optional(Text),
  }),
  'version.pinned': Type.Object({ changeId: Text, version: Type.Integer({ minimum: 0 }) }),
} as const;
