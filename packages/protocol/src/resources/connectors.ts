/** Connectors, which send messages of runs: the requests and responses of their API. */
import Type, { type Static } from 'typebox';
import { Count, closedObject, optional, page, Time } from '../schema.ts';
import { wire } from '../wire.ts';

export const CONNECTOR_LIMITS = {
  perTenantMax: 200,
  rateRequestsMax: 1_000,
  rateSecondsMax: 86_400,
} as const;

export const CONNECTOR_TYPES = ['smtp', 'slack', 'http'] as const;
export type ConnectorType = (typeof CONNECTOR_TYPES)[number];

const Url = Type.String({ minLength: 1, maxLength: 2_048 });
const Channels = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { minItems: 1, maxItems: 16 });
const RateLimit = closedObject({
  requests: Type.Integer({ minimum: 1, maximum: CONNECTOR_LIMITS.rateRequestsMax }),
  perSeconds: Type.Integer({ minimum: 1, maximum: CONNECTOR_LIMITS.rateSecondsMax }),
});
export type RateLimit = Static<typeof RateLimit>;

export const CreateConnectorRequest = closedObject({
  /** The `connectorInstanceId` in workflows. */
  connectorId: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' }),
  type: Type.Enum([...CONNECTOR_TYPES]),
  /** `smtps://`, `smtp://` or `https://`. A `slack` connector has it in its credential. */
  url: optional(Url),
  /** The sender of mail. */
  from: optional(Type.String({ minLength: 3, maxLength: 320 })),
  /** The subject of every mail. Default: the first line of the text. */
  subject: optional(Type.String({ minLength: 1, maxLength: 200 })),
  /** `none` for a relay without encryption, which the operator must allow. */
  tls: optional(Type.Literal('none')),
  credential: optional(Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}(@[1-9][0-9]{0,8})?$' })),
  /** The channels that it serves. Default: `email` and `slack`; all for `http`. */
  channels: optional(Channels),
  rateLimit: optional(RateLimit),
});
export type CreateConnectorRequest = Static<typeof CreateConnectorRequest>;

export const Connector = Type.Object({
  connectorId: Type.String(),
  type: Type.Enum([...CONNECTOR_TYPES]),
  url: optional(Type.String()),
  from: optional(Type.String()),
  subject: optional(Type.String()),
  tls: optional(Type.Literal('none')),
  credential: optional(Type.String()),
  channels: optional(Type.Array(Type.String())),
  rateLimit: optional(RateLimit),
  /** `disconnected`: its receiver rejects the credential. No messages are accepted until it is reconnected. */
  state: Type.Enum(['active', 'disconnected']),
  problem: optional(Type.String()),
  createdAt: Time,
});
export type Connector = Static<typeof Connector>;

export const MESSAGE_STATES = ['pending', 'delivered', 'dead'] as const;
export type MessageState = (typeof MESSAGE_STATES)[number];

/** Contains nothing of the message. */
export const MessageDelivery = Type.Object({
  deliveryId: Type.String(),
  connectorId: Type.String(),
  channel: Type.String(),
  state: Type.Enum([...MESSAGE_STATES]),
  runId: optional(Type.String()),
  nodeId: optional(Type.String()),
  attempts: Count,
  lastStatus: optional(Type.Integer()),
  lastReason: optional(Type.String()),
  lastAttemptAt: optional(Time),
  nextAttemptAt: optional(Time),
  finishedAt: optional(Time),
  createdAt: Time,
});
export type MessageDelivery = Static<typeof MessageDelivery>;

/** Whether it could send now. No message is sent. */
export const ConnectorCheck = Type.Object({
  ok: Type.Boolean(),
  /** The result of the check. */
  detail: Type.String(),
  next: optional(Type.String()),
});
export type ConnectorCheck = Static<typeof ConnectorCheck>;

export const connectorsWire = wire(
  {
    path: 'connectors',
    id: 'connectorId',
    item: { check: 'read', reconnect: 'write', resend: 'write', deliveries: 'read' },
  },
  {
    about: 'Add a connector that sends messages of runs',
    scopes: { read: ['credentials:manage'], write: ['credentials:manage'] },
    input: CreateConnectorRequest,
    view: Connector,
    feed: true,
    methods: {
      check: {
        about: 'Check whether it can send; no message is sent',
        in: closedObject({}),
        out: ConnectorCheck,
      },
      reconnect: { about: 'Accept messages again after its credential was corrected', in: closedObject({}) },
      resend: {
        about: 'Resend a message that was cancelled',
        in: closedObject({ deliveryId: Type.String({ minLength: 1, maxLength: 128 }) }),
        out: MessageDelivery,
        accepted: true,
      },
      deliveries: {
        about: 'What became of its messages, newest first',
        in: closedObject({
          state: optional(Type.Enum([...MESSAGE_STATES])),
          ...page,
        }),
        out: Type.Object({ deliveries: Type.Array(MessageDelivery), nextCursor: optional(Type.String()) }),
      },
    },
  },
);
