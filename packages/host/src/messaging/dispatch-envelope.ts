/**
 * Accepts messages of nodes.
 *
 * I1  The delivery, its key, the decision about the credential and the record of the call are one commit.
 * I2  A repeated key returns the first delivery, for any caller and at any time; with another message it is
 *     refused.
 */
import { hash } from 'node:crypto';
import { OpenwopError } from '@gantry/protocol';
import type { Change, Changes } from '@gantry/resources';
import {
  type ChangeCall,
  changed,
  type Dispatched,
  type EgressEnvelope,
  type MessagesPort,
} from '@gantry/surfaces';
import canonicalize from 'canonicalize';
import { connectors, type StoredConnector } from './connector.ts';
import { checkEnvelope, keyEndsAt, MESSAGES, messageKeys } from './message.ts';
import type { Receivers } from './receivers.ts';
import { messageIdOf } from './smtp.ts';

export interface DispatchEnvelopeOptions {
  readonly changes: Pick<Changes, 'run'>;
  readonly receivers: Pick<Receivers, 'judge'>;
}

export const createMessagesPort = ({ changes, receivers }: DispatchEnvelopeOptions): MessagesPort => ({
  dispatch: (envelope, connectorId, call) =>
    changed(changes, call, async (change) => {
      const connector = await change.find(connectors, connectorId);
      if (!connector) throw new OpenwopError('connector_not_found');
      mustServe(connector, envelope);
      const repeated = await repeatOf(change, connector, envelope);
      if (repeated) return accepted(connector, repeated);
      if (connector.record.state === 'disconnected') throw new OpenwopError('connector_disconnected');
      const refusal = await judged(receivers, change, connector);
      return refusal ?? accepted(connector, created(change, connector, envelope, call));
    }),
});

function mustServe({ record: { target, channels } }: StoredConnector, envelope: EgressEnvelope): void {
  if (channels && !channels.includes(envelope.channel))
    throw new OpenwopError('channel_unsupported', { details: { channels: [...channels] } });
  checkEnvelope(target, envelope);
}

/** The connector may not be usable any more since it was added. It is checked again when the message is sent. */
async function judged(
  receivers: DispatchEnvelopeOptions['receivers'],
  change: Change,
  { record: { owner, target } }: StoredConnector,
): Promise<Dispatched | null> {
  const { problem, decision } = await receivers.judge(owner, target);
  if (decision) change.tell({ type: 'egress.decided', payload: { ...decision } });
  return problem === null ? null : { success: false, error: problem };
}

const keyId = (connectorId: string, key: string): string => hash('sha256', `${connectorId}\0${key}`, 'hex');

/** I2. */
async function repeatOf(
  change: Change,
  { id }: StoredConnector,
  { idempotencyKey, ...message }: EgressEnvelope,
): Promise<string | null> {
  const before = await change.find(messageKeys, keyId(id, idempotencyKey));
  if (before && before.record.digest !== digestOf(message))
    throw new OpenwopError('idempotency_key_mismatch', {
      message: 'Another message was sent under this `idempotencyKey`. Use a key of its own for each message.',
    });
  return before?.record.deliveryId ?? null;
}

function digestOf({ channel, delivery, content }: Omit<EgressEnvelope, 'idempotencyKey'>): string {
  return hash('sha256', canonicalize({ channel, delivery, content }) ?? '', 'hex');
}

function created(
  change: Change,
  { id: connectorId }: StoredConnector,
  envelope: EgressEnvelope,
  { caller }: ChangeCall,
): string {
  const { now } = change;
  const { id } = change.create(MESSAGES.pending, {
    connectorId,
    channel: envelope.channel,
    envelope,
    ...(caller.kind === 'node' && { runId: caller.runId, nodeId: caller.nodeId }),
    createdAt: now,
    dueAt: now,
    attempts: 0,
  });
  const { idempotencyKey: key, ...message } = envelope;
  const mark = { deliveryId: id, digest: digestOf(message), until: keyEndsAt(now) };
  change.create(messageKeys, mark, keyId(connectorId, key));
  return id;
}

const accepted = ({ record: { target } }: StoredConnector, deliveryId: string): Dispatched => ({
  success: true,
  deliveryId,
  ...(target.type === 'smtp' && { platformMessageId: messageIdOf(deliveryId, target) }),
});
