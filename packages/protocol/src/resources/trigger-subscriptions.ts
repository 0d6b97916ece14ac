/** Runs started by external events (trigger bridge): requests and responses. */
import Type, { type Static } from 'typebox';
import type { Json, JsonObject } from '../json.ts';
import { Count, closedObject, optional, page, Time } from '../schema.ts';
import { wire } from '../wire.ts';

export const TRIGGER_LIMITS = {
  perTenantMax: 1_000,
  /** The maximum body of one ingested event. */
  maxBodyBytes: 262_144,
  attemptsMax: 20,
  mappedInputsMax: 64,
  pathLengthMax: 256,
  formFieldsMax: 256,
  recipientsMax: 100,
  attachmentsMax: 10,
  attachmentBytesMax: 10 * 1_048_576,
  /** Each has a permanent listener. */
  queuesPerTenantMax: 100,
  /** How long a repeated event is ignored. */
  dedupMs: 24 * 3_600_000,
} as const;

export const TRIGGER_STATES = ['active', 'paused', 'failed', 'dead-lettered'] as const;
export const TriggerState = Type.Enum([...TRIGGER_STATES]);
export type TriggerState = Static<typeof TriggerState>;

/** Sources that this host ingests. */
export const TRIGGER_SOURCES = ['webhook', 'form', 'email'] as const;
export const TriggerSource = Type.Enum([...TRIGGER_SOURCES]);
export type TriggerSource = Static<typeof TriggerSource>;

/** Sources of subscriptions. A queue subscription receives nothing over HTTP: it listens to its topic. */
export const BRIDGED_SOURCES = [...TRIGGER_SOURCES, 'queue'] as const;
export const BridgedSource = Type.Enum([...BRIDGED_SOURCES]);
export type BridgedSource = Static<typeof BridgedSource>;

export const VERIFICATION_MODES = ['required', 'best-effort', 'none'] as const;

/** `openwop` signs time and body; `github` only the body, so it has no time. */
export const SIGNATURE_SCHEMES = ['openwop', 'github'] as const;
export const SignatureScheme = Type.Enum([...SIGNATURE_SCHEMES]);
export type SignatureScheme = Static<typeof SignatureScheme>;
export const DEFAULT_SCHEME: SignatureScheme = 'openwop';

export const TriggerRetryPolicy = closedObject({
  maxAttempts: optional(Type.Integer({ minimum: 1, maximum: TRIGGER_LIMITS.attemptsMax })),
  backoff: optional(Type.Enum(['none', 'fixed', 'exponential'])),
});
export type TriggerRetryPolicy = Static<typeof TriggerRetryPolicy>;

export const DEFAULT_RETRY_POLICY = { maxAttempts: 10, backoff: 'exponential' } as const;

/** `triggerBridge` of the discovery document. */
export const TRIGGER_BRIDGE_CAPABILITY = {
  supported: true,
  subscriptionStates: TRIGGER_STATES,
  dedup: true,
  retryPolicy: DEFAULT_RETRY_POLICY,
  sources: BRIDGED_SOURCES,
  ingestion: {
    externalSources: TRIGGER_SOURCES,
    maxBodyBytes: TRIGGER_LIMITS.maxBodyBytes,
    verification: ['webhook-signature'],
    registrationEndpoint: true,
  },
} as const;

/** Variables of the workflow, each with a dotted path in the trigger event: `webhook.body.issue.id`. */
export const InputMapping = Type.Record(
  Type.String({ minLength: 1, maxLength: 256 }),
  Type.String({ minLength: 1, maxLength: TRIGGER_LIMITS.pathLengthMax }),
  { maxProperties: TRIGGER_LIMITS.mappedInputsMax },
);
export type InputMapping = Static<typeof InputMapping>;

const deliveryFields = {
  dedupEnabled: optional(Type.Boolean()),
  retryPolicy: optional(TriggerRetryPolicy),
  verification: optional(
    closedObject({
      mode: optional(Type.Enum([...VERIFICATION_MODES])),
      /** An extension of this host. */
      scheme: optional(SignatureScheme),
    }),
  ),
  inputMapping: optional(InputMapping),
};

const topic = Type.String({ minLength: 1, maxLength: 200 });
const consumerGroup = Type.String({ minLength: 1, maxLength: 100 });

/** `POST /v1/trigger-subscriptions`. `queue` with its `topic` is an extension of this host. */
export const TriggerSubscriptionRegistration = closedObject({
  source: BridgedSource,
  workflowId: Type.String({ minLength: 1, maxLength: 128 }),
  topic: optional(topic),
  /** Default: a separate group for the subscription. */
  consumerGroup: optional(consumerGroup),
  ...deliveryFields,
});
export type TriggerSubscriptionRegistration = Static<typeof TriggerSubscriptionRegistration>;

/** A parsed message from a mail gateway. An attachment has a `url` or its `content` in base64. */
export const EmailMessage = closedObject({
  from: Type.String({ minLength: 1, maxLength: 1_024 }),
  to: Type.Array(Type.String({ minLength: 1, maxLength: 1_024 }), { maxItems: TRIGGER_LIMITS.recipientsMax }),
  subject: optional(Type.String()),
  text: optional(Type.String()),
  html: optional(Type.String()),
  attachments: optional(
    Type.Array(
      closedObject({
        url: optional(Type.String({ minLength: 1, maxLength: 2_048 })),
        content: optional(Type.String()),
        filename: optional(Type.String({ maxLength: 255 })),
        mediaType: optional(Type.String({ maxLength: 127 })),
      }),
      { maxItems: TRIGGER_LIMITS.attachmentsMax },
    ),
  ),
});
export type EmailMessage = Static<typeof EmailMessage>;

/** `config` of a workflow trigger for `core.messaging.consume`. */
export const QueueTriggerConfig = closedObject({
  topic,
  consumerGroup: optional(consumerGroup),
  retryPolicy: optional(TriggerRetryPolicy),
  inputMapping: optional(InputMapping),
});
export type QueueTriggerConfig = Static<typeof QueueTriggerConfig>;

/** `config` of a workflow trigger of type `webhook`. */
export const WebhookTriggerConfig = closedObject(deliveryFields);

export const TriggerSubscription = closedObject({
  subscriptionId: Type.String(),
  source: BridgedSource,
  state: TriggerState,
  dedupEnabled: Type.Boolean(),
  retryPolicy: TriggerRetryPolicy,
  /** Absent for a queue, to which nothing is sent. */
  secretFingerprint: optional(Type.String({ maxLength: 32 })),
});
export type TriggerSubscription = Static<typeof TriggerSubscription>;

/** Data that the closed shape of a subscription cannot contain. An extension of this host. */
export const TriggerPurpose = Type.Object({
  workflowId: Type.String(),
  /** For a queue: its topic and its consumer group. */
  topic: optional(Type.String()),
  consumerGroup: optional(Type.String()),
  /** For others: the URL for events. */
  ingestUrl: optional(Type.String()),
  /** Why it starts no runs although it is active. */
  problem: optional(Type.String()),
});
export type TriggerPurpose = Static<typeof TriggerPurpose>;

/** The URL for events and their signing secret. Only in the response that created it. */
export const TriggerBinding = Type.Object({
  ingestUrl: Type.String(),
  secret: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  secretFingerprint: Type.String(),
});
export type TriggerBinding = Static<typeof TriggerBinding>;

export const TriggerSubscriptionCreated = Type.Object({
  subscription: TriggerSubscription,
  binding: TriggerBinding,
});
export type TriggerSubscriptionCreated = Static<typeof TriggerSubscriptionCreated>;

/** The topic of a subscription and its consumer group. */
export const QueueBinding = Type.Object({ topic: Type.String(), consumerGroup: Type.String() });
export const QueueSubscriptionCreated = Type.Object({
  subscription: TriggerSubscription,
  binding: QueueBinding,
});
export type QueueSubscriptionCreated = Static<typeof QueueSubscriptionCreated>;

/** Why a subscription changed its state, or why a delivery ended without a run. */
export const TriggerReason = Type.Enum([
  'retry-exhausted',
  'operator-paused',
  'signature-invalid',
  'backpressure',
  'source-removed',
]);
export type TriggerReason = Static<typeof TriggerReason>;

/** Payload of `trigger.subscription.state.changed`, with its time. */
export const TriggerStateChange = Type.Object({
  at: Time,
  fromState: TriggerState,
  toState: TriggerState,
  reason: optional(TriggerReason),
});

/** The outcome of one event. Contains nothing of its content. */
export const TriggerDelivery = Type.Object({
  deliveryId: Type.String(),
  subscriptionId: Type.String(),
  state: Type.Enum(['pending', 'delivered', 'dead-lettered']),
  /** Opaque. */
  dedupKey: Type.String(),
  verified: Type.Boolean(),
  attempts: Count,
  /** Outcome of the last attempt, as in `trigger.delivery.attempted`. */
  outcome: optional(Type.Enum(['delivered', 'retrying', 'dead-lettered'])),
  runId: optional(Type.String()),
  reason: optional(Type.String()),
  receivedAt: Time,
  nextAttemptAt: optional(Time),
  finishedAt: optional(Time),
  /** Attachments that the run does not get, by their position in the message. */
  droppedAttachments: optional(Type.Array(Type.Object({ attachment: Count, reason: Type.String() }))),
});
export type TriggerDelivery = Static<typeof TriggerDelivery>;

/** `POST /v1/ingest/{subscriptionId}`. */
export const IngestAnswer = Type.Object({
  deliveryId: Type.String(),
  /** The event was accepted before, so no run is started. */
  duplicate: optional(Type.Boolean()),
  runId: optional(Type.String()),
});
export type IngestAnswer = Static<typeof IngestAnswer>;

/** The trigger data of a run. It is content from outside, so it is untrusted. */
export interface IngestedEvent extends JsonObject {
  source: BridgedSource;
  subscriptionId: string;
  deliveryId: string;
  receivedAt: string;
  verified: boolean;
  contentTrust: 'untrusted';
  [block: string]: Json;
}

/** The trigger data of a run for a message: only the outputs that `core.messaging.consume` allows. Untrusted. */
export interface QueueTriggerEvent extends JsonObject {
  payload: Json;
  headers: Record<string, string>;
  /** Accepted by `ctx.queueBus.ack`; the message is already acknowledged. */
  messageId: string;
}

/** The event of a delivery. */
export type TriggerEvent = IngestedEvent | QueueTriggerEvent;

export const triggerSubscriptionsWire = wire(
  {
    path: 'trigger-subscriptions',
    url: '/v1/trigger-subscriptions',
    list: 'subscriptions',
    id: 'subscriptionId',
    item: { pause: 'write', resume: 'write', 'rotate-secret': 'write', deliveries: 'read' },
  },
  {
    about: 'Start runs from outside events; the secret that signs them is shown once',
    scopes: { read: ['webhooks:manage'], write: ['webhooks:manage'] },
    listed: TRIGGER_LIMITS.perTenantMax,
    input: TriggerSubscriptionRegistration,
    created: Type.Union([TriggerSubscriptionCreated, QueueSubscriptionCreated]),
    view: TriggerSubscription,
    gone: true,
    own: ['create', 'remove', 'rotate-secret'],
    methods: {
      pause: { about: 'Stop accepting events', in: closedObject({}) },
      resume: { about: 'Accept events again, also after a failure', in: closedObject({}) },
      'rotate-secret': {
        about: 'Replace the secret; the new one is shown once',
        in: closedObject({}),
        out: TriggerBinding,
      },
      deliveries: {
        about: 'What became of the events of a subscription, newest first',
        in: closedObject({
          ...page,
        }),
        out: Type.Object({
          ...TriggerPurpose.properties,
          deliveries: Type.Array(TriggerDelivery),
          /** The latest changes, newest first. */
          stateChanges: Type.Array(TriggerStateChange),
          nextCursor: optional(Type.String()),
          /** For a queue: why no messages arrive at the moment. */
          problem: optional(Type.String()),
        }),
      },
    },
  },
);
