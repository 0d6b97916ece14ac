/**
 * Messages that the connectors of a tenant send.
 *
 * I1  A message is accepted by one change, with the record of its call: it is on disk before the caller hears of it.
 * I2  One delivery for each idempotency key of a connector, however often it is sent.
 */
import type { ChangeCall } from '../calls/surface-call.ts';

export interface EgressEnvelope {
  readonly type: 'chat.egress';
  readonly version: string;
  readonly channel: string;
  readonly accountId: string;
  readonly delivery: {
    readonly conversationId: string;
    readonly threadId?: string;
    readonly inReplyTo?: string;
  };
  readonly content: {
    readonly text?: string;
    readonly media?: readonly { readonly kind: string; readonly ref: string }[];
  };
  readonly idempotencyKey: string;
  readonly mode?: { readonly typing?: boolean; readonly draftStreaming?: boolean };
}

/** What became of a message: `error` says why it was not accepted. */
export type Dispatched = {
  success: boolean;
  deliveryId?: string;
  platformMessageId?: string;
  error?: string;
};

export interface MessagesPort {
  /** Refuses with `connector_not_found`, `connector_disconnected` or `channel_unsupported`. */
  dispatch(envelope: EgressEnvelope, connectorId: string, call: ChangeCall): Promise<Dispatched>;
}
