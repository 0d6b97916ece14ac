import type { EgressByPurpose } from '@gantry/egress';
import { connectorsWire } from '@gantry/protocol';
import { feature } from '../feature.ts';
import { connectors } from './connector.ts';
import { MESSAGES, messageKeys } from './message.ts';
import { sendTimes } from './message-lanes.ts';
import { createMessaging, type MessagingOptions } from './messaging.ts';

interface Needs extends Omit<MessagingOptions, 'egress'> {
  readonly egress: EgressByPurpose;
}

export const messagingFeature = feature({
  name: 'messaging',
  kinds: [connectors, ...Object.values(MESSAGES), messageKeys, sendTimes],
  open: ({ egress, ...parts }: Needs) => createMessaging({ ...parts, egress: egress.for('connector') }),
  resources: (messaging) => [[connectorsWire, messaging.connectors]],
});
