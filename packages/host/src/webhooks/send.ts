/** One attempt: the event is read, signed and sent. */
import type { Egress } from '@gantry/egress';
import type { InterruptLink, StoredEvent } from '@gantry/protocol';
import type { RunKey, Store } from '@gantry/store';
import { type Outcome as PostOutcome, post } from '../deliveries/post.ts';
import { type Delivery, idOfSource } from './delivery.ts';
import { deliveryBody, deliveryHeaders, type Secrets } from './signature.ts';
import type { WebhookRecord } from './webhook.ts';

export type Outcome = PostOutcome<'event_gone'>;

type EventReads = Pick<Store['runs'], 'events'>;

export interface SendOptions {
  readonly egress: Pick<Egress, 'request'>;
  readonly runs: EventReads;
  readonly heartbeats: EventReads;
  readonly linksOf: LinksOf;
  readonly now: () => number;
}

/** For the people whom the event of an interrupt names. */
export type LinksOf = (run: RunKey, event: StoredEvent) => Promise<readonly InterruptLink[]>;

export async function send(
  { egress, runs, heartbeats, linksOf, now }: SendOptions,
  { url, interruptLinks }: WebhookRecord,
  delivery: Delivery,
  secrets: Secrets,
): Promise<Outcome> {
  const { tenant, record } = delivery;
  const { source, sequence } = record;
  const log = 'runId' in source ? runs : heartbeats;
  const [event] = await log.events(tenant, idOfSource(source), sequence, 1);
  if (event?.sequence !== sequence) return { kind: 'impossible', reason: 'event_gone' };
  const isLinked = interruptLinks && 'runId' in source;
  const links = isLinked ? await linksOf({ tenant, runId: source.runId }, event) : [];
  const body = deliveryBody(delivery, event, links);
  const headers = deliveryHeaders(delivery, { secrets, body, now: now() });
  return post(egress, url, { headers, body, tenant });
}
