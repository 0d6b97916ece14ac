/**
 * Takes events from outside.
 *
 * I1  An event is on disk when its sender gets the answer; what starts the run is the stored delivery.
 * I2  The marks of its dedup key and of its signature are in the same commit: of equal events, however many at once,
 *     one is taken. The id of an event is not signed, so a signature is taken once, whatever id comes with it.
 * I3  Who does not know the secret learns nothing but that the event was not accepted, and changes nothing of the
 *     subscription: else anyone who knows the address could switch it off.
 * I4  Verified and unverified events are limited separately: unsigned requests use up nothing of signed ones.
 */
import { hash } from 'node:crypto';
import {
  DEFAULT_SCHEME,
  type IngestAnswer,
  newId,
  OpenwopError,
  TRIGGER_LIMITS,
  type TriggerEvent,
} from '@gantry/protocol';
import type { Store } from '@gantry/store';
import type { MasterKey } from '../master-key.ts';
import { contentOf, type IngestRequest } from './content.ts';
import { type Delivery, deliveryWrite, firstDelivery, type Mark, markWrite } from './delivery.ts';
import { createRateLimit } from './rate-limit.ts';
import {
  findSubscription,
  type IngestSubscription,
  type Subscription,
  secretContext,
} from './subscription.ts';
import { type Signature, signatureOf } from './verification.ts';

const EVENTS = { perSecond: 50, burst: 200 };
/** Refused events are put on record, but not at the pace of whoever sends them. */
const REFUSALS = { perSecond: 0.2, burst: 10 };
const RETRY_AFTER_SECONDS = 1;

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

export interface IngestOptions {
  readonly store: Pick<Store, 'commit' | 'entries'>;
  readonly masterKey: MasterKey;
  readonly now: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly retentionMs: number;
  /** A delivery is due at that time, on disk. */
  readonly noted: (dueAt: number) => void;
}

export type Ingest = (subscriptionId: string, request: IngestRequest) => Promise<IngestAnswer>;

export function createIngest(options: IngestOptions): Ingest {
  const { store, masterKey, now } = options;
  const verifiedRate = createRateLimit(EVENTS, now);
  const unverifiedRate = createRateLimit(EVENTS, now);
  const recorded = createRateLimit(REFUSALS, now);
  const dedupHash = masterKey.hmac('trigger-dedup');

  async function refuse(subscription: Subscription): Promise<never> {
    if (recorded(subscription.subscriptionId)) {
      const at = now();
      const refused = newDelivery(options, subscription, { at, dedupKey: null, verified: false });
      const state = { status: 'dead-lettered', reason: 'signature-invalid', at } as const;
      const delivery: Delivery = { ...refused, dueAt: null, attempts: 1, state };
      await store.commit([[deliveryWrite(delivery, at + options.retentionMs)]]);
    }
    throw new OpenwopError('unauthenticated', { message: 'The event was not accepted.' });
  }

  return async (subscriptionId, request) => {
    const subscription = await findSubscription(store.entries, subscriptionId);
    if (!subscription)
      throw new OpenwopError('not_found', { message: 'Nothing is waiting for events here.' });
    const signature = verify(masterKey, subscription, request, now());
    const verified = signature !== null;
    // I4. Only known ids are counted: whoever makes them up can't push the others out of the count.
    const rate = verified ? verifiedRate : unverifiedRate;
    if (!rate(subscriptionId)) throw tooMany();
    if (subscription.verification === 'required' && !verified) return refuse(subscription);
    if (subscription.state !== 'active') throw closedTo(subscription);
    const { dedupEnabled, source } = subscription;
    const opaque = (event: string): string =>
      dedupHash(`${subscriptionId}\0${event}`).toString('hex').slice(0, 32);
    const dedupKey = dedupEnabled ? opaque(eventName(request)) : null;
    const content = contentOf(source, request);
    const delivery = newDelivery(options, subscription, { at: now(), dedupKey, verified, content });
    const { receivedAt } = delivery;
    const dedup =
      dedupKey === null ? [] : [{ key: dedupKey, expiresAt: receivedAt + TRIGGER_LIMITS.dedupMs }];
    const seen = signature && {
      key: opaque(`signature\0${signature.digest}`),
      expiresAt: signature.validUntilMs ?? receivedAt + options.retentionMs,
    };
    return take(options, delivery, seen ? [...dedup, seen] : dedup);
  };
}

/** I1, I2. */
async function take(
  { store, retentionMs, noted }: IngestOptions,
  delivery: Delivery,
  marks: readonly Mark[],
): Promise<IngestAnswer> {
  const { deliveryId, receivedAt } = delivery;
  const write = deliveryWrite(delivery, receivedAt + retentionMs);
  const [result] = await store.commit([[write, ...marks.map((mark) => markWrite(delivery, mark))]]);
  if (result?.won) {
    noted(receivedAt);
    return { deliveryId };
  }
  const lost = result && marks[result.write - 1];
  const first = lost && (await firstDelivery(store.entries, delivery, lost));
  // The sweep took the mark away between the two: to the sender a moment like any other to try again.
  if (!first) throw tooMany();
  return { ...first, duplicate: true };
}

function verify(
  masterKey: MasterKey,
  subscription: IngestSubscription,
  request: IngestRequest,
  at: number,
): Signature | null {
  if (subscription.verification === 'none') return null;
  const secret = masterKey.open(subscription.secretSealed, secretContext(subscription));
  if (secret === null)
    throw new Error('the secret was sealed with another key; start with its GANTRY_MASTER_KEY');
  return signatureOf(subscription.scheme ?? DEFAULT_SCHEME, { ...request, secret }, at);
}

/** The sender's id of the event, else the event itself. */
function eventName({ headers, body }: IngestRequest): string {
  const named = ID_HEADERS.find((name) => typeof headers[name] === 'string' && headers[name] !== '');
  return named ? `id\0${headers[named]}` : `body\0${hash('sha256', body, 'hex')}`;
}

interface Arrival {
  readonly at: number;
  /** Null when equal events are not told apart. */
  readonly dedupKey: string | null;
  readonly verified: boolean;
  readonly content?: ReturnType<typeof contentOf>;
}

function newDelivery(
  { randomBytes }: IngestOptions,
  { tenant, subscriptionId, source }: Subscription,
  { at, dedupKey, verified, content = {} }: Arrival,
): Delivery {
  const deliveryId = newId('dlv', at, randomBytes);
  const event: TriggerEvent = {
    source,
    subscriptionId,
    deliveryId,
    verified,
    contentTrust: 'untrusted',
    receivedAt: new Date(at).toISOString(),
    ...(dedupKey !== null && { dedupKey }),
    ...content,
  };
  return {
    tenant,
    subscriptionId,
    deliveryId,
    verified,
    receivedAt: at,
    dueAt: at,
    dedupKey: dedupKey ?? deliveryId,
    attempts: 0,
    version: 0,
    state: { status: 'pending', event },
  };
}

const tooMany = (): OpenwopError =>
  new OpenwopError('rate_limited', {
    details: { retryAfter: RETRY_AFTER_SECONDS },
    headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
  });

const closedTo = ({ state }: Subscription): OpenwopError =>
  new OpenwopError('conflict', {
    message: `This subscription is ${state} and takes no events. Send it again later.`,
    details: { state },
  });
