/**
 * Messages that the connectors of a tenant send.
 *
 * I1  A message is accepted by one change, with the record of its call: it is on disk before the caller hears of it.
 * I2  One delivery for each idempotency key of a connector, however often it is sent.
 */
import type Type from 'typebox';
import type { ChangeCall } from '../calls/surface-call.ts';
import type { Envelope } from '../capabilities/messaging/surface.ts';

export type EgressEnvelope = Type.Static<typeof Envelope>;

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
