/**
 * Accepts events from external senders.
 *
 * I1  An event is on disk when its sender gets the answer; what starts the run is the stored delivery.
 * I2  The marks of its dedup key and of its signature are in the same commit: of equal events, however many at once,
 *     one is taken. The id of an event is not signed, so a signature is taken once, whatever id comes with it.
 * I3  A sender without the secret learns only that the event was not accepted, and does not change the subscription:
 *     otherwise anyone who knows the address could disable it.
 * I4  Verified and unverified events have separate rate limits: unsigned requests do not use up that of signed ones.
 */
import { hash } from 'node:crypto';
import { type IngestAnswer, OpenwopError, TRIGGER_LIMITS, type TriggerEvent } from '@gantry/protocol';
import type { Change } from '@gantry/resources';
import type { Store } from '@gantry/store';
import type { MasterKey } from '../master-key.ts';
import type { Parts } from '../parts.ts';
import { secretOf } from '../signing-secret.ts';
import { dueWith, wantAttachments } from './attachments.ts';
import { type Content, contentOf, type IngestRequest } from './content.ts';
import { type DeliveryState, deliveries, markId, marks } from './delivery.ts';
import { triggerCaller } from './dispatch.ts';
import { findTrigger, type IngestTrigger, type TriggerRecord } from './trigger.ts';
import { type Signature, signatureOf } from './verification.ts';

const EVENTS = { perSecond: 50, burst: 200 };
/** Refused events are recorded at a limited rate. */
const REFUSALS = { perSecond: 0.2, burst: 10 };
const RETRY_AFTER_SECONDS = 1;
const BUCKETS_MAX = 10_000;

/** Where senders put the id of an event. */
const ID_HEADERS = [
  'idempotency-key',
  'x-openwop-delivery-id',
  'openwop-delivery-id',
  'webhook-id',
  'x-github-delivery',
  'x-gitlab-event-uuid',
  'x-shopify-webhook-id',
] as const;

export interface IngestOptions extends Pick<Parts, 'changes' | 'masterKey' | 'now'> {
  readonly store: Pick<Store, 'entries'>;
  readonly retentionMs: number;
}

export type Ingest = (subscriptionId: string, request: IngestRequest) => Promise<IngestAnswer>;

export function createIngest(options: IngestOptions): Ingest {
  const { store, masterKey, now } = options;
  const verifiedRate = createRateLimit(EVENTS, now);
  const unverifiedRate = createRateLimit(EVENTS, now);
  const recorded = createRateLimit(REFUSALS, now);
  const dedupHash = masterKey.hmac('trigger-dedup');

  return async (subscriptionId, request) => {
    const trigger = await findTrigger(store.entries, subscriptionId);
    if (!trigger)
      throw new OpenwopError('not_found', { message: 'There is no subscription at this address.' });
    const signature = verify(masterKey, trigger, request, now());
    const verified = signature !== null;
    // I4. Only known ids are counted: made-up ids cannot push the others out of the count.
    const rate = verified ? verifiedRate : unverifiedRate;
    if (!rate(subscriptionId)) throw tooMany();
    const { verification, state, dedupEnabled, source } = trigger.record;
    if (verification === 'required' && !verified) {
      if (recorded(subscriptionId)) await recordRefusal(options, trigger);
      throw new OpenwopError('unauthenticated', { message: 'The event was not accepted.' });
    }
    if (state !== 'active') throw closedTo(state);
    const opaque = (event: string): string =>
      dedupHash(`${subscriptionId}\0${event}`).toString('hex').slice(0, 32);
    return take(options, trigger, {
      verified,
      dedupKey: dedupEnabled ? opaque(eventName(request)) : null,
      content: contentOf(source, request),
      ...(signature && {
        seen: { key: opaque(`signature\0${signature.digest}`), validUntilMs: signature.validUntilMs },
      }),
    });
  };
}

export interface Arrival {
  readonly verified: boolean;
  /** Null when equal events are not recognised. */
  readonly dedupKey: string | null;
  readonly content: Content;
  /** The signature, which is taken once. */
  readonly seen?: { readonly key: string; readonly validUntilMs: number | null };
}

/** I1, I2. */
export const take = (
  { changes, retentionMs }: IngestOptions,
  trigger: IngestTrigger,
  { verified, dedupKey, content, seen }: Arrival,
): Promise<IngestAnswer> =>
  changes.run(triggerCaller(trigger.tenant), async (change) => {
    const until = new Map<string, number>();
    if (dedupKey !== null) until.set(markId(trigger.id, dedupKey), change.now + TRIGGER_LIMITS.dedupMs);
    if (seen) until.set(markId(trigger.id, seen.key), seen.validUntilMs ?? change.now + retentionMs);
    for (const mark of until.keys()) {
      const taken = await change.find(marks, mark);
      if (taken) return duplicateOf(change, taken.record.deliveryId);
    }
    const { source } = trigger.record;
    const { id: deliveryId } = change.createFor(deliveries, (id) => {
      const event: TriggerEvent = {
        source,
        subscriptionId: trigger.id,
        deliveryId: id,
        verified,
        contentTrust: 'untrusted',
        receivedAt: new Date(change.now).toISOString(),
        ...(dedupKey !== null && { dedupKey }),
        ...content.block,
      };
      const state = { status: 'pending', event, ...dueWith(content, change.now) } as const;
      return { subscriptionId: trigger.id, dedupKey: dedupKey ?? id, verified, attempts: 0, state };
    });
    wantAttachments(change, { deliveryId, subscriptionId: trigger.id, retentionMs, content });
    for (const [mark, at] of until) change.create(marks, { deliveryId, until: at }, mark);
    return { deliveryId };
  });

/** The delivery that took the event first, and its run if it has one and both are still kept. */
async function duplicateOf(change: Change, deliveryId: string): Promise<IngestAnswer> {
  const state = (await change.find(deliveries, deliveryId))?.record.state;
  return { deliveryId, ...(state?.status === 'delivered' && { runId: state.runId }), duplicate: true };
}

/** I3. */
const recordRefusal = ({ changes, retentionMs }: IngestOptions, { tenant, id }: IngestTrigger) =>
  changes.run(triggerCaller(tenant), async (change) => {
    const at = change.now;
    const state: DeliveryState = {
      status: 'dead-lettered',
      reason: 'signature-invalid',
      at,
      until: at + retentionMs,
    };
    change.createFor(deliveries, (dedupKey) => ({
      subscriptionId: id,
      dedupKey,
      verified: false,
      attempts: 1,
      state,
    }));
  });

function verify(
  masterKey: MasterKey,
  trigger: IngestTrigger,
  request: IngestRequest,
  at: number,
): Signature | null {
  const { record } = trigger;
  if (record.verification === 'none') return null;
  const secret = secretOf<TriggerRecord>(masterKey, trigger, 'secret');
  return signatureOf(record.scheme, { ...request, secret }, at);
}

/** The sender's id of the event, else the event itself. */
function eventName({ headers, body }: IngestRequest): string {
  const named = ID_HEADERS.find((name) => typeof headers[name] === 'string' && headers[name] !== '');
  return named ? `id\0${headers[named]}` : `body\0${hash('sha256', body, 'hex')}`;
}

const tooMany = (): OpenwopError =>
  new OpenwopError('rate_limited', {
    details: { retryAfter: RETRY_AFTER_SECONDS },
    headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
  });

const closedTo = (state: string): OpenwopError =>
  new OpenwopError('conflict', {
    message: `This subscription is ${state} and does not accept events. Send the event again later.`,
    details: { state },
  });

interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** Token buckets, one for each key, in this process. Takes one token; false when there is none. */
function createRateLimit({ perSecond, burst }: Rate, now: () => number): (key: string) => boolean {
  const buckets = new Map<string, { tokens: number; at: number }>();
  return (key) => {
    const at = now();
    const before = buckets.get(key) ?? { tokens: burst, at };
    const gained = (Math.max(0, at - before.at) / 1000) * perSecond;
    const tokens = Math.min(burst, before.tokens + gained);
    const allowed = tokens >= 1;
    buckets.delete(key);
    buckets.set(key, { tokens: allowed ? tokens - 1 : tokens, at });
    if (buckets.size > BUCKETS_MAX) buckets.delete(buckets.keys().next().value!);
    return allowed;
  };
}
