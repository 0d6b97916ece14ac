/** One attempt: the event is read, signed and sent. */
import type { Egress } from '@gantry/egress';
import type { InterruptLink, StoredEvent } from '@gantry/protocol';
import type { RunKey, Store } from '@gantry/store';
import { type Outcome as PostOutcome, post } from '../deliveries/post.ts';
import type { Delivery } from './delivery.ts';
import { deliveryBody, deliveryHeaders, type Secrets } from './signature.ts';
import type { WebhookRecord } from './webhook.ts';

export type Outcome = PostOutcome<'event_gone'>;

export interface SendOptions {
  readonly egress: Pick<Egress, 'request'>;
  readonly runs: Pick<Store['runs'], 'events'>;
  readonly linksOf: LinksOf;
  readonly now: () => number;
}

/** For the people whom the event of an interrupt names. */
export type LinksOf = (run: RunKey, event: StoredEvent) => Promise<readonly InterruptLink[]>;

export async function send(
  { egress, runs, linksOf, now }: SendOptions,
  { url, interruptLinks }: WebhookRecord,
  delivery: Delivery,
  secrets: Secrets,
): Promise<Outcome> {
  const { tenant, record } = delivery;
  const { runId, sequence } = record;
  const [event] = await runs.events(tenant, runId, sequence, 1);
  if (event?.sequence !== sequence) return { kind: 'impossible', reason: 'event_gone' };
  const links = interruptLinks ? await linksOf({ tenant, runId }, event) : [];
  const body = deliveryBody(delivery, event, links);
  const headers = deliveryHeaders(delivery, { secrets, body, now: now() });
  return post(egress, url, { headers, body, tenant });
}
