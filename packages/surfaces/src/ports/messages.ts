/**
 * Messages that the connectors of a tenant send.
 *
 * I1  One change accepts a message and records its call: the message is on disk before the caller gets its answer.
 * I2  One delivery for each idempotency key of a connector, however often it is sent.
 */
import type Type from 'typebox';
import type { ChangeCall } from '../calls/surface-call.ts';
import type { Envelope } from '../capabilities/messaging/surface.ts';

export type EgressEnvelope = Type.Static<typeof Envelope>;

/** The outcome of a message; `error` is the reason if it was not accepted. */
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
