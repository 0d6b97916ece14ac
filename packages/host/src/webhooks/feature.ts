import type { EgressByPurpose } from '@gantry/egress';
import { webhooksWire } from '@gantry/protocol';
import { webhookRoutes } from '../api/webhooks.ts';
import { feature } from '../feature.ts';
import { linksOver } from '../interrupts/approval-links.ts';
import type { InterruptTokens } from '../interrupts/interrupt-token.ts';
import type { PublicAddress } from '../surfaces/public-address.ts';
import { DELIVERIES } from './delivery.ts';
import { webhooks } from './webhook.ts';
import { createWebhooks, type WebhooksOptions } from './webhooks.ts';

interface Needs extends Omit<WebhooksOptions, 'egress' | 'linksOf'> {
  readonly egress: EgressByPurpose;
  readonly interruptTokens: InterruptTokens;
  readonly address: Pick<PublicAddress, 'known'>;
}

export const webhooksFeature = feature({
  name: 'webhooks',
  kinds: [webhooks, ...Object.values(DELIVERIES)],
  open: ({ egress, interruptTokens, address, ...parts }: Needs) =>
    createWebhooks({
      ...parts,
      egress: egress.for('webhook'),
      linksOf: linksOver(interruptTokens, address),
    }),
  outbox: ({ outbox }) => outbox,
  resources: ({ service }) => [[webhooksWire, service]],
  routes: (app, { service }, { idempotency }) => webhookRoutes(app, service, idempotency),
});
