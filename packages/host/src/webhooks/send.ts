/** One attempt: the event is read, signed and sent. */
import type { Egress } from '@gantry/egress';
import type { Store } from '@gantry/store';
import { type Outcome as PostOutcome, post } from '../deliveries/post.ts';
import type { Delivery } from './delivery.ts';
import { deliveryBody, deliveryHeaders, type Secrets } from './signature.ts';
import type { WebhookRecord } from './webhook.ts';

export type Outcome = PostOutcome<'event_gone'>;

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
  const headers = deliveryHeaders(delivery, { secrets, body, now: now() });
  return post(egress, url, { headers, body, tenant });
}
