/** One attempt: the event is read, signed and sent. */
import { type Egress, EgressError, type EgressReason } from '@gantry/egress';
import type { Store } from '@gantry/store';
import type { Delivery } from './delivery.ts';
import { deliveryBody, deliveryHeaders, type Secrets } from './signature.ts';
import type { WebhookRecord } from './webhook.ts';

const TIMEOUT_MS = 5_000;
/** Nothing of the answer is kept but its status. */
const ANSWER_BYTES_MAX = 64 * 1024;

export type Outcome =
  | { readonly kind: 'delivered'; readonly status: number }
  | { readonly kind: 'refused'; readonly reason: 'http_status'; readonly status: number }
  | { readonly kind: 'unreached'; readonly reason: EgressReason }
  /** Nothing was sent, and nothing ever can be. */
  | { readonly kind: 'impossible'; readonly reason: 'event_gone' };

export interface SendOptions {
  readonly egress: Pick<Egress, 'request'>;
  readonly runs: Pick<Store['runs'], 'events'>;
  readonly now: () => number;
}

export async function send(
  { egress, runs, now }: SendOptions,
  { url }: WebhookRecord,
  delivery: Delivery,
  secrets: Secrets,
): Promise<Outcome> {
  const { tenant, record } = delivery;
  const { runId, sequence } = record;
  const [event] = await runs.events(tenant, runId, sequence, 1);
  if (event?.sequence !== sequence) return { kind: 'impossible', reason: 'event_gone' };
  const body = deliveryBody(delivery, event);
  try {
    const { status } = await egress.request(url, {
      method: 'POST',
      headers: deliveryHeaders(delivery, { secrets, body, now: now() }),
      body,
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: ANSWER_BYTES_MAX,
      redirects: 0,
      tenant,
    });
    const isDelivered = status >= 200 && status < 300;
    return isDelivered ? { kind: 'delivered', status } : { kind: 'refused', reason: 'http_status', status };
  } catch (error) {
    if (error instanceof EgressError) return { kind: 'unreached', reason: error.reason };
    throw error;
  }
}
