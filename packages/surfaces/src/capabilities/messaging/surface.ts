/** `ctx.messaging`: messages to people, sent by the connectors of the host. */
import Type from 'typebox';
import { fingerprintOf } from '../../calls/data.ts';
import { defineSurface, type ImplementedSurface, writes } from '../../calls/define-surface.ts';
import { Flag, optional, Text, text } from '../../calls/schema.ts';
import type { ChangeCall } from '../../calls/surface-call.ts';
import { overHost } from '../../open-port.ts';
import type { EgressEnvelope, MessagesPort } from '../../ports/messages.ts';

export const Envelope = Type.Object({
  type: Type.Literal('chat.egress'),
  version: text(16),
  channel: text(64),
  accountId: Type.String({ maxLength: 128 }),
  delivery: Type.Object({
    conversationId: text(4_096),
    threadId: optional(text(512)),
    inReplyTo: optional(text(512)),
  }),
  content: Type.Object({
    text: optional(Type.String({ maxLength: 40_000 })),
    media: optional(Type.Array(Type.Object({ kind: text(64), ref: text(2_048) }), { maxItems: 20 })),
  }),
  idempotencyKey: text(512),
  mode: optional(Type.Object({ typing: optional(Flag), draftStreaming: optional(Flag) })),
});

export const messagingSurface = defineSurface({
  capability: 'messaging',
  summary:
    'Messages to people, sent by a connector that the operator has added (mail, Slack-style webhooks, HTTP). A message ' +
    'that was accepted is on disk and is sent with retries; `docs/messaging.md` has the connectors.',
  journal: 'change',
  opens: overHost('messages', implementMessaging),
  limits: {},
  errors: ['connector_not_found', 'connector_disconnected', 'channel_unsupported'],
  methods: {
    dispatchEgressEnvelope: writes(
      'Hands a message to a connector. The same `idempotencyKey` gets the same `deliveryId`. `success` says that the ' +
        'message was accepted, not that it has arrived.',
      { envelope: Envelope, connectorInstanceId: text(128), nodeId: optional(Text) },
      {
        success: Flag,
        deliveryId: optional(Text),
        platformMessageId: optional(Text),
        durationMs: optional(Type.Number()),
        error: optional(Text),
      },
    ),
  },
});

function implementMessaging(messages: MessagesPort): ImplementedSurface {
  return messagingSurface.implement({
    dispatchEgressEnvelope: ({ envelope, connectorInstanceId }, call) =>
      messages.dispatch(envelope, connectorInstanceId, sameForEveryKey(call, connectorInstanceId, envelope)),
  });
}

/**
 * Excludes the key from the fingerprint: published packs put the time into it, so a node that runs again sends
 * the same message with another key.
 */
function sameForEveryKey(call: ChangeCall, connector: string, envelope: EgressEnvelope): ChangeCall {
  const { invocation } = call;
  if (!invocation) return call;
  const { channel, delivery, content } = envelope;
  const fingerprint = fingerprintOf(invocation.method, { connector, channel, delivery, content });
  return { ...call, invocation: { ...invocation, fingerprint } };
}
