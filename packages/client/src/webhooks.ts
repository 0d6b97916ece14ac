import type {
  DeliveryState,
  RegisterWebhookRequest,
  RegisterWebhookResponse,
  RotatedWebhookSecret,
  RotateWebhookSecretRequest,
  WebhookDelivery,
  WebhookSubscription,
} from '@gantry/protocol';
import { createCalls } from './calls.ts';
import type { Transport } from './transport.ts';

export interface WebhookDeliveryFilter {
  state?: DeliveryState;
  cursor?: string;
  limit?: number;
}

export interface WebhookDeliveryPage {
  deliveries: WebhookDelivery[];
  /** Pass as `cursor` to get the next, older page. */
  nextCursor?: string;
}

export interface Webhooks {
  list(): Promise<WebhookSubscription[]>;
  get(webhookId: string): Promise<WebhookSubscription>;
  /** The only time the secret is shown: a repeat of a request whose answer was lost is refused and says so. */
  register(request: RegisterWebhookRequest): Promise<RegisterWebhookResponse>;
  unregister(webhookId: string): Promise<void>;
  /** Sends again after it failed, or while its circuit is open. */
  resume(webhookId: string): Promise<WebhookSubscription>;
  /** A new secret, shown once; the old one signs too until `previousSecretUntil`. */
  rotateSecret(webhookId: string, request?: RotateWebhookSecretRequest): Promise<RotatedWebhookSecret>;
  /** Those of the newest run first. */
  deliveries(webhookId: string, filter?: WebhookDeliveryFilter): Promise<WebhookDeliveryPage>;
  /** The same event again, as a new delivery. */
  resend(webhookId: string, deliveryId: string): Promise<WebhookDelivery>;
}

const WEBHOOKS = '/v1/webhooks';

export function createWebhooks(transport: Transport): Webhooks {
  const { read, send, remove } = createCalls(transport);
  const webhookPath = (webhookId: string) => `${WEBHOOKS}/${encodeURIComponent(webhookId)}`;
  const hostPath = (webhookId: string) => `/v1/host/gantry/webhooks/${encodeURIComponent(webhookId)}`;
  const deliveriesPath = (webhookId: string) => `${hostPath(webhookId)}/deliveries`;
  return {
    list: async () => (await read<{ webhooks: WebhookSubscription[] }>(WEBHOOKS)).webhooks,
    get: (webhookId) => read(webhookPath(webhookId)),
    register: (request) => send(WEBHOOKS, request),
    async unregister(webhookId) {
      await remove(webhookPath(webhookId));
    },
    resume: (webhookId) => send(`${hostPath(webhookId)}:resume`, {}),
    rotateSecret: (webhookId, request = {}) => send(`${hostPath(webhookId)}:rotate-secret`, request),
    deliveries: (webhookId, filter = {}) => read(deliveriesPath(webhookId), { ...filter }),
    resend: (webhookId, deliveryId) =>
      send(`${deliveriesPath(webhookId)}/${encodeURIComponent(deliveryId)}:resend`, {}),
  };
}
