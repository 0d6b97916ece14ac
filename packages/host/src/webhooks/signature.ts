/** What a receiver gets: the body, and the headers that prove where it comes from. */
import { createHmac } from 'node:crypto';
import { eventDocJson, type InterruptLink, type StoredEvent } from '@gantry/protocol';
import { heartbeatEventJson } from '../heartbeats/event-log.ts';
import { HOST_VERSION } from '../version.ts';
import type { Delivery } from './delivery.ts';

const SIGNATURE_ALGORITHM = 'v1';

/** Every value is sent under both names: the protocol replaces the first by the second. */
const PREFIXES = ['X-openwop-', 'OpenWOP-'] as const;

export function deliveryBody(
  { record: { source, workspaceId } }: Delivery,
  event: StoredEvent,
  links: readonly InterruptLink[] = [],
): string {
  const head = JSON.stringify({ ...source, workspaceId, type: event.type }).slice(0, -1);
  const doc =
    'runId' in source ? eventDocJson(source.runId, event) : heartbeatEventJson(source.heartbeatId, event);
  const more = links.length === 0 ? '' : `,"links":${JSON.stringify(links)}`;
  return `${head},"event":${doc}${more}}`;
}

const sign = (secret: string, timestamp: string, body: string): string =>
  createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');

/** The current one, then the ones that it replaced while those still sign too, newest first. */
export type Secrets = readonly string[];

/** Delivery is at least once: `Webhook-Id` with run and sequence, or `Delivery-Id`, identifies repeats. */
export function deliveryHeaders(
  { id, record }: Delivery,
  { secrets, body, now }: { readonly secrets: Secrets; readonly body: string; readonly now: number },
): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000));
  const [current, ...previous] = secrets.map((secret) => `sha256=${sign(secret, timestamp, body)}`);
  const values = {
    'Webhook-Id': record.webhookId,
    'Event-Type': record.type,
    Timestamp: timestamp,
    Signature: current!,
    ...(previous.length > 0 && { 'Signature-Previous': previous.join(', ') }),
    'Signature-Algorithm': SIGNATURE_ALGORITHM,
    'Delivery-Id': id,
  };
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'user-agent': `openwop-webhook-dispatcher/${HOST_VERSION}`,
  };
  for (const [name, value] of Object.entries(values)) {
    for (const prefix of PREFIXES) headers[`${prefix}${name}`] = value;
  }
  return headers;
}
