/** What callers may do with trigger subscriptions. */
import type { Caller } from '@gantry/http';
import {
  DEFAULT_SCHEME,
  newId,
  OpenwopError,
  TRIGGER_LIMITS,
  type TriggerBinding,
  type TriggerDelivery,
  type TriggerPurpose,
  type TriggerSubscription,
  type TriggerSubscriptionRegistration,
} from '@gantry/protocol';
import type { Store, Write } from '@gantry/store';
import type { Workflows } from '../runtime/runtime.ts';
import { DELIVERY, deliveryView, deliveryWrite, toDelivery } from './delivery.ts';
import { mappingProblem } from './input-mapping.ts';
import { type Mint, mintSecret, mintSubscription } from './mint.ts';
import { placeOf } from './queue-source/place.ts';
import { queueRegistration } from './queue-source/registration.ts';
import { roomForSubscription } from './queue-source/room.ts';
import { retryPolicyOf } from './retry.ts';
import {
  creationWrites,
  inState,
  type QueueSubscription,
  readSubscription,
  removalWrites,
  type StateChange,
  type Subscription,
  subscriptionView,
  subscriptionWrite,
  TRIGGER,
  type TriggerKey,
  toSubscription,
  type Wanted,
} from './subscription.ts';

/** Someone else may change a subscription between reading and writing it; in a row that is rare. */
const ATTEMPTS_MAX = 5;
/** Of many that take room at once, one wins each time. */
const ROOM_ATTEMPTS_MAX = 100;
const RESUME_PAGE = 256;

export interface TriggerDeskOptions extends Mint {
  readonly store: Pick<Store, 'commit' | 'entries' | 'records'>;
  readonly workflows: Pick<Workflows, 'resolve'>;
  /** A delivery is due at that time, on disk. */
  readonly noted: (dueAt: number) => void;
  /** A subscription is there, gone or in another state, on disk. */
  readonly changed: () => void;
  /** Rejects while queues cannot be used. */
  readonly queueHealth: () => Promise<void>;
}

/** What a repeat of the request will get, in the commit of its effect. */
export type RecordWrites = () => readonly Write[];

export interface Registered {
  readonly subscription: TriggerSubscription;
  readonly binding: TriggerBinding | { readonly topic: string; readonly consumerGroup: string };
}

export interface DeliveryPage extends TriggerPurpose {
  readonly deliveries: TriggerDelivery[];
  readonly nextCursor?: string;
  /** The latest changes of state, newest first. */
  readonly stateChanges: readonly StateChange[];
  /** Why no events arrive for now. It goes by itself. */
  readonly problem?: string;
}

export class TriggerDesk {
  readonly #options: TriggerDeskOptions;

  constructor(options: TriggerDeskOptions) {
    this.#options = options;
  }

  async register(
    caller: Caller,
    body: TriggerSubscriptionRegistration,
    origin: string,
    record: (made: Registered) => readonly Write[],
  ): Promise<Registered | 'duplicate'> {
    const { masterKey, now, randomBytes } = this.#options;
    const { tenant, keyId } = caller;
    const wanted = wantedOf(body, keyId);
    await this.#checkStartable(tenant, wanted);
    await this.#checkCount(tenant);
    await masterKey.claim();
    const key = { tenant, subscriptionId: newId('sub', now(), randomBytes) };
    const { secret, subscription } = mintSubscription(this.#options, key, wanted);
    const made = registeredOf(subscription, secret, origin);
    return this.#create(subscription, made, record(made));
  }

  async #create(
    subscription: Subscription,
    made: Registered,
    record: readonly Write[],
  ): Promise<Registered | 'duplicate'> {
    const { store, now, changed } = this.#options;
    const { source, tenant } = subscription;
    for (let attempts = 0; attempts < ROOM_ATTEMPTS_MAX; attempts++) {
      const room = source === 'queue' ? await roomForSubscription(store, tenant, now()) : [];
      const [result] = await store.commit([[...room, ...creationWrites(subscription), ...record]]);
      if (!result) break;
      if (result.won) {
        changed();
        return made;
      }
      // What stands before it was counted anew by someone else; the rest can only have been there before
      if (result.write >= room.length) return 'duplicate';
    }
    throw new OpenwopError('service_unavailable', {
      message: 'Other subscriptions keep being made. Try again.',
    });
  }

  async list(tenant: string): Promise<TriggerSubscription[]> {
    return (await this.#all(tenant)).map(subscriptionView);
  }

  async describe(tenant: string): Promise<(TriggerSubscription & TriggerPurpose)[]> {
    const all = await this.#all(tenant);
    return all.map((each) => ({ ...subscriptionView(each), ...purposeOf(each) }));
  }

  async #all(tenant: string): Promise<Subscription[]> {
    const entries = await this.#options.store.entries.list(TRIGGER, tenant, {
      limit: TRIGGER_LIMITS.perTenantMax,
    });
    return entries.map(toSubscription);
  }

  async read(key: TriggerKey): Promise<TriggerSubscription> {
    return subscriptionView(await this.#find(key));
  }

  /** What still waits for it becomes a dead letter. */
  async remove(key: TriggerKey, record: RecordWrites): Promise<'removed' | 'duplicate'> {
    const done = await this.#commit(key, record, (subscription) => {
      const { origin } = subscription;
      if (origin.kind === 'trigger')
        throw conflict(
          `It belongs to trigger ${origin.triggerId} of its workflow. Pause it, or disable that.`,
        );
      return { writes: removalWrites(subscription), answer: undefined };
    });
    return done === 'duplicate' ? done : 'removed';
  }

  pause(key: TriggerKey, record: (answer: TriggerSubscription) => readonly Write[]) {
    return this.#change(key, record, (subscription) => {
      if (subscription.state === 'dead-lettered')
        throw conflict('The subscription has ended. Register a new one.');
      return inState(subscription, 'paused', this.#options.now(), 'operator-paused');
    });
  }

  /** Also gives one that failed another chance. */
  async resume(key: TriggerKey, record: (answer: TriggerSubscription) => readonly Write[]) {
    const resumed = await this.#change(key, record, (subscription) => {
      if (subscription.state === 'dead-lettered')
        throw conflict('The subscription has ended. Register a new one.');
      return { ...inState(subscription, 'active', this.#options.now()), exhaustedInARow: 0 };
    });
    if (resumed !== 'duplicate') await this.#releaseHeld(key);
    return resumed;
  }

  /** From now on only the new secret counts. */
  async rotateSecret(
    key: TriggerKey,
    origin: string,
    record: RecordWrites,
  ): Promise<TriggerBinding | 'duplicate'> {
    await this.#options.masterKey.claim();
    return this.#commit(key, record, (subscription) => {
      if (subscription.source === 'queue')
        throw conflict('It listens to a queue, so nothing is sent to it, and nothing is signed.');
      const { secret, ...sealed } = mintSecret(this.#options, key);
      const changed = { ...subscription, ...sealed };
      return { writes: [subscriptionWrite(changed)], answer: bindingOf(changed, secret, origin) };
    });
  }

  async deliveries(key: TriggerKey, limit: number, cursor: string | undefined): Promise<DeliveryPage> {
    const subscription = await this.#find(key);
    const filter = {
      ref: key.subscriptionId,
      limit: limit + 1,
      ...(cursor !== undefined && { beforeId: cursor }),
    };
    const found = await this.#options.store.entries.list(DELIVERY, key.tenant, filter);
    const deliveries = found.slice(0, limit).map((entry) => deliveryView(toDelivery(entry)));
    const next = found.length > limit ? { nextCursor: deliveries.at(-1)!.deliveryId } : {};
    const stateChanges = subscription.changes.toReversed();
    const problem = await this.#problemOf(subscription);
    return { ...purposeOf(subscription), deliveries, ...next, stateChanges, ...problem };
  }

  async #problemOf({ source, state }: Subscription): Promise<Pick<DeliveryPage, 'problem'>> {
    if (source !== 'queue' || state !== 'active') return {};
    try {
      await this.#options.queueHealth();
      return {};
    } catch (error) {
      return { problem: error instanceof OpenwopError ? error.message : 'The queue does not answer.' };
    }
  }

  async #checkCount(tenant: string): Promise<void> {
    const { perTenantMax } = TRIGGER_LIMITS;
    if ((await this.#options.store.entries.count(TRIGGER, tenant)) >= perTenantMax)
      throw conflict(`A tenant can have ${perTenantMax} subscriptions. Delete one first.`);
  }

  /** The scopes of the caller were checked at the door. */
  async #checkStartable(tenant: string, { workflowId, inputMapping }: Wanted): Promise<void> {
    const workflow = await this.#options.workflows.resolve(tenant, workflowId);
    if (!workflow) throw new OpenwopError('not_found', { message: 'There is no such workflow.' });
    const problem = mappingProblem(workflow.definition.variables, inputMapping);
    if (problem !== null)
      throw new OpenwopError('validation_error', {
        message: `No event could start the workflow: ${problem}.`,
        details: { fields: [{ field: 'body/inputMapping', problem }] },
      });
  }

  /** What was put off while paused is due now. If this process dies here, it is due within the hour. */
  async #releaseHeld({ tenant, subscriptionId }: TriggerKey): Promise<void> {
    const { store, now, noted } = this.#options;
    const at = now();
    for (let beforeId: string | undefined; ; ) {
      const filter = { ref: subscriptionId, limit: RESUME_PAGE, ...(beforeId !== undefined && { beforeId }) };
      const page = await store.entries.list(DELIVERY, tenant, filter);
      const held = page.map(toDelivery).filter(({ dueAt }) => dueAt !== null && dueAt > at);
      await store.commit(held.map((delivery) => [deliveryWrite({ ...delivery, dueAt: at }, 0)]));
      beforeId = page.at(-1)?.id;
      if (page.length < RESUME_PAGE) break;
    }
    noted(at);
  }

  #change(
    key: TriggerKey,
    record: (answer: TriggerSubscription) => readonly Write[],
    change: (subscription: Subscription) => Subscription,
  ): Promise<TriggerSubscription | 'duplicate'> {
    return this.#commit(key, record, (subscription) => {
      const changed = change(subscription);
      return { writes: [subscriptionWrite(changed)], answer: subscriptionView(changed) };
    });
  }

  async #commit<T>(
    key: TriggerKey,
    record: (answer: T) => readonly Write[],
    decide: (subscription: Subscription) => { readonly writes: readonly Write[]; readonly answer: T },
  ): Promise<T | 'duplicate'> {
    for (let attempts = 0; attempts < ATTEMPTS_MAX; attempts++) {
      const { writes, answer } = decide(await this.#find(key));
      const [result] = await this.#options.store.commit([[...writes, ...record(answer)]]);
      if (result?.won) {
        this.#options.changed();
        return answer;
      }
      if (result?.reason === 'exists') return 'duplicate';
    }
    throw new OpenwopError('service_unavailable', { message: 'The subscription keeps changing. Try again.' });
  }

  async #find(key: TriggerKey): Promise<Subscription> {
    const subscription = await readSubscription(this.#options.store.entries, key);
    if (!subscription) throw new OpenwopError('not_found', { message: 'There is no such subscription.' });
    return subscription;
  }
}

function wantedOf(body: TriggerSubscriptionRegistration, keyId: string): Wanted {
  const { source, workflowId, dedupEnabled = true, retryPolicy, verification, inputMapping = {} } = body;
  const origin = { kind: 'api', keyId } as const;
  if (source === 'queue') return queueRegistration(body, origin);
  if (source === 'email')
    throw new OpenwopError('capability_not_provided', {
      message: 'This host does not take mail. Let a mail gateway send a signed `webhook` instead.',
      details: { capability: 'triggerBridge.ingestion.externalSources' },
    });
  if (body.topic !== undefined || body.consumerGroup !== undefined)
    throw new OpenwopError('validation_error', {
      message: `\`topic\` and \`consumerGroup\` are for the source \`queue\`, not for ${source}.`,
    });
  return {
    source,
    workflowId,
    dedupEnabled,
    inputMapping,
    origin,
    retryPolicy: retryPolicyOf(retryPolicy),
    verification: verification?.mode ?? 'required',
    scheme: verification?.scheme ?? DEFAULT_SCHEME,
  };
}

function registeredOf(subscription: Subscription, secret: string, origin: string): Registered {
  const view = subscriptionView(subscription);
  return subscription.source === 'queue'
    ? { subscription: view, binding: listeningOf(subscription) }
    : { subscription: view, binding: bindingOf(subscription, secret, origin) };
}

function listeningOf(subscription: QueueSubscription) {
  const { topic, group } = placeOf(subscription);
  return { topic, consumerGroup: group };
}

const purposeOf = (subscription: Subscription): TriggerPurpose => ({
  workflowId: subscription.workflowId,
  ...(subscription.source === 'queue' && listeningOf(subscription)),
});

const bindingOf = (
  { subscriptionId, secretFingerprint }: Subscription,
  secret: string,
  origin: string,
): TriggerBinding => ({ ingestUrl: `${origin}/v1/ingest/${subscriptionId}`, secret, secretFingerprint });

const conflict = (message: string): OpenwopError => new OpenwopError('conflict', { message });
