import Type, { type Static } from 'typebox';
import { Count, closedObject, optional, page, Time } from '../schema.ts';
import { wire } from '../wire.ts';

export const WEBHOOKS_PER_TENANT_MAX = 100;

/** An event type, all types under a prefix (`node.*`), or all (`*`). */
export const EventPattern = Type.String({
  pattern: '^(\\*|[A-Za-z][A-Za-z0-9_-]*(\\.[A-Za-z0-9_-]+)*(\\.\\*)?)$',
  maxLength: 128,
});

/** `POST /v1/webhooks`. */
export const RegisterWebhookRequest = closedObject({
  url: Type.String({ minLength: 1, maxLength: 2048 }),
  events: Type.Array(EventPattern, { minItems: 1, maxItems: 64, uniqueItems: true }),
  /** The caller's own tenant (the default). */
  tenantId: optional(Type.String({ minLength: 1, maxLength: 128 })),
  /** Only runs with one of these tags. */
  tags: optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
      minItems: 1,
      maxItems: 32,
      uniqueItems: true,
    }),
  ),
  /** Retries with back-off and a dead letter, instead of one attempt. */
  durable: optional(Type.Boolean()),
});
export type RegisterWebhookRequest = Static<typeof RegisterWebhookRequest>;

/** Aliases of `webhookId` and `events` for other clients. */
const OTHER_NAMES = { subscriptionId: Type.String(), eventTypes: Type.Array(Type.String()) };

const NewSecret = {
  webhookId: Type.String(),
  secret: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  /** First 8 hex digits of the secret's SHA-256. */
  secretFingerprint: Type.String({ pattern: '^[0-9a-f]{8}$' }),
};

/** The only response with the secret. */
export const RegisterWebhookResponse = Type.Object({
  ...NewSecret,
  ...OTHER_NAMES,
  url: Type.String(),
  createdAt: Time,
});
export type RegisterWebhookResponse = Static<typeof RegisterWebhookResponse>;

/** `POST /v1/host/gantry/webhooks/{webhookId}:rotate-secret`. */
export const RotateWebhookSecretRequest = closedObject({
  /** How long the replaced secret also signs. Default: a day; with 0 it ends at once. */
  overlapSeconds: optional(Type.Integer({ minimum: 0, maximum: 7 * 86_400 })),
});

export const RotatedWebhookSecret = Type.Object({
  ...NewSecret,
  /** Until then, the replaced secret also signs. */
  previousSecretUntil: optional(Time),
});

export const WebhookState = Type.Enum(['active', 'failed']);

/** `half-open`: the next delivery is a probe that closes the circuit or opens it again. */
export const CircuitState = Type.Enum(['closed', 'open', 'half-open']);
export type CircuitState = Static<typeof CircuitState>;

export const WebhookSubscription = Type.Object({
  webhookId: Type.String(),
  ...OTHER_NAMES,
  url: Type.String(),
  events: Type.Array(Type.String()),
  tags: optional(Type.Array(Type.String())),
  durable: Type.Boolean(),
  /** Its `interrupt.requested` events contain a link for each named person. */
  interruptLinks: optional(Type.Literal(true)),
  secretFingerprint: Type.String(),
  /** Until then, the previous secret also signs. */
  previousSecretUntil: optional(Time),
  state: WebhookState,
  circuit: CircuitState,
  circuitOpenUntil: optional(Time),
  consecutiveFailures: Count,
  failuresLast7Days: Count,
  createdAt: Time,
});
export type WebhookSubscription = Static<typeof WebhookSubscription>;

/** `failed` is the end of a normal delivery, `dead` that of a durable one. */
export const DeliveryState = Type.Enum(['pending', 'delivered', 'failed', 'dead']);
export type DeliveryState = Static<typeof DeliveryState>;

export const WebhookDelivery = Type.Object({
  deliveryId: Type.String(),
  webhookId: Type.String(),
  /** The source of the event: one of the two. */
  runId: optional(Type.String()),
  heartbeatId: optional(Type.String()),
  sequence: Count,
  type: Type.String(),
  state: DeliveryState,
  attempts: Count,
  /** HTTP status of the last attempt that got one. */
  lastStatus: optional(Type.Integer()),
  /** Why the last attempt failed. */
  lastReason: optional(Type.String()),
  lastAttemptAt: optional(Time),
  nextAttemptAt: optional(Time),
  finishedAt: optional(Time),
  resendOf: optional(Type.String()),
  createdAt: Time,
});
export type WebhookDelivery = Static<typeof WebhookDelivery>;

export const webhooksWire = wire(
  {
    path: 'webhooks',
    url: '/v1/webhooks',
    alsoListed: 'subscriptions',
    id: 'webhookId',
    item: { resume: 'write', 'rotate-secret': 'write', deliveries: 'read' },
  },
  {
    about: 'Subscribe a URL to events; the secret that signs them is shown once',
    scopes: { read: ['webhooks:manage'], write: ['webhooks:manage'] },
    listed: WEBHOOKS_PER_TENANT_MAX,
    input: RegisterWebhookRequest,
    created: RegisterWebhookResponse,
    view: WebhookSubscription,
    gone: true,
    own: ['create', 'remove'],
    feed: true,
    methods: {
      resume: {
        about: 'Send events again after a failure, with the circuit closed',
        in: closedObject({}),
      },
      'rotate-secret': {
        about: 'Replace the secret, shown once; the old one signs too for a while',
        in: RotateWebhookSecretRequest,
        out: RotatedWebhookSecret,
      },
      deliveries: {
        about: 'List deliveries of a subscription, those of the newest run first',
        in: closedObject({
          state: optional(DeliveryState),
          ...page,
        }),
        out: Type.Object({ deliveries: Type.Array(WebhookDelivery), nextCursor: optional(Type.String()) }),
      },
    },
  },
);
