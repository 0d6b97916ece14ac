import type { WebhookDelivery, WebhookSubscription, webhooksWire } from '@gantry/protocol';
import { WEBHOOKS } from '@gantry/protocol/tables';
import { api, type ResourceApi } from './api.ts';
import { createCalls } from './calls.ts';
import type { Transport } from './transport.ts';

type All = ResourceApi<typeof webhooksWire>;

export type WebhookDeliveryFilter = NonNullable<Parameters<All['deliveries']>[1]>;
export type WebhookDeliveryPage = Awaited<ReturnType<All['deliveries']>>;

export interface Webhooks extends Pick<All, 'get' | 'resume' | 'deliveries'> {
  list(): Promise<WebhookSubscription[]>;
  /** The only time the secret is shown: a repeat of a request whose answer was lost is refused and says so. */
  register: All['create'];
  unregister(webhookId: string): Promise<void>;
  /** A new secret, shown once; the old one signs too until `previousSecretUntil`. */
  rotateSecret: All['rotate-secret'];
  /** The same event again, as a new delivery. */
  resend(webhookId: string, deliveryId: string): Promise<WebhookDelivery>;
}

export function createWebhooks(transport: Transport): Webhooks {
  const { list, get, create, remove, resume, deliveries, ...all } = api<typeof webhooksWire>(
    transport,
    WEBHOOKS,
  );
  const { send } = createCalls(transport);
  return {
    get,
    resume,
    deliveries,
    register: create,
    rotateSecret: all['rotate-secret'],
    list: async () => (await list()).webhooks,
    async unregister(webhookId) {
      await remove(webhookId);
    },
    resend(webhookId, deliveryId) {
      const [webhook, delivery] = [webhookId, deliveryId].map(encodeURIComponent);
      return send(`/v1/host/gantry/webhooks/${webhook}/deliveries/${delivery}:resend`, {});
    },
  };
}
