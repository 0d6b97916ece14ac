/** Wires the messages of one process: connectors, the port for nodes, and the lanes that send messages. */
import type { Egress } from '@gantry/egress';
import { ResourceService } from '@gantry/resources';
import type { Credentials } from '../credentials/credentials.ts';
import { createDeliveryLanes } from '../deliveries/delivery-lanes.ts';
import type { Parts } from '../parts.ts';
import { connectors } from './connector.ts';
import { createMessagesPort } from './dispatch-envelope.ts';
import { MESSAGES } from './message.ts';
import { CLAIM_MS, MessageLanes } from './message-lanes.ts';
import { Receivers } from './receivers.ts';

export interface MessagingOptions
  extends Pick<Parts, 'store' | 'changes' | 'clock' | 'now' | 'randomBytes' | 'log'> {
  readonly egress: Egress;
  readonly credentials: Pick<Credentials, 'open'>;
}

export type Messaging = ReturnType<typeof createMessaging>;

export function createMessaging(options: MessagingOptions) {
  const { store, changes, now, randomBytes } = options;
  const receivers = new Receivers(options);
  const random = (): number => (randomBytes(1)[0] ?? 0) / 255;
  const sender = new MessageLanes({ ...options, receivers, random });
  const lanes = createDeliveryLanes({
    ...options,
    noun: 'connector',
    kind: MESSAGES.pending.kind,
    claimMs: CLAIM_MS,
    turn: (key) => sender.turn(key),
  });
  const services = { entries: store.entries, receivers };
  return {
    ...lanes,
    connectors: new ResourceService(connectors, { changes, entries: store.entries, now, services }),
    messages: createMessagesPort({ changes, receivers }),
  };
}
