/** The operations of callers on trigger subscriptions. */
import { limiter } from '@gantry/limiter';
import {
  invalid,
  OpenwopError,
  type TriggerBinding,
  type TriggerPurpose,
  type TriggerSubscription,
  type TriggerSubscriptionRegistration,
  type triggerSubscriptionsWire,
} from '@gantry/protocol';
import { type Caller, listRecords, type Matching, mustMatch, ResourceService } from '@gantry/resources';
import type { Store } from '@gantry/store';
import type { Parts } from '../parts.ts';
import { newSecret, type SecretOptions } from '../signing-secret.ts';
import type { Admitting } from '../workflows/admission.ts';
import { deliveries } from './delivery.ts';
import { TRIGGERS } from './dispatch.ts';
import { mappingProblem } from './input-mapping.ts';
import { queueRegistration } from './queue-source/registration.ts';
import { roomForSubscription } from './queue-source/room.ts';
import {
  conflict,
  finderWrite,
  ingestWanted,
  isQueue,
  listeningOf,
  newTrigger,
  problemOf,
  purposeOf,
  readTrigger,
  runOwner,
  type Trigger,
  type TriggerReads,
  type TriggerRecord,
  triggers,
  viewOf,
  type Wanted,
} from './trigger.ts';

const RELEASE_PAGE = 256;
const REGISTERING_MAX = 64;
const FINGERPRINT_LENGTH = 16;

export interface TriggerServiceOptions extends SecretOptions, Pick<Parts, 'changes' | 'now'> {
  readonly store: Pick<Store, 'entries' | 'records'>;
  readonly workflows: Admitting;
  /** A subscription was created, deleted or changed its state, and this is committed. */
  readonly onChanged: () => void;
  readonly queueHealth: TriggerReads['queueHealth'];
}

export interface Registered {
  readonly subscription: TriggerSubscription;
  readonly binding: TriggerBinding | { readonly topic: string; readonly consumerGroup: string };
}

export class TriggerService extends ResourceService<
  typeof triggerSubscriptionsWire,
  TriggerRecord,
  TriggerRecord,
  TriggerReads
> {
  readonly #options: TriggerServiceOptions;
  /** One of a tenant at a time: concurrent ones would conflict, since each counts all subscriptions. */
  readonly #registering = limiter({ max: REGISTERING_MAX, perTenantMax: 1 });

  constructor(options: TriggerServiceOptions) {
    const { onChanged, store } = options;
    const { entries } = store;
    super(triggers, {
      ...options,
      entries,
      services: { ...options, entries },
      onChanged: async (tenant, id) => {
        onChanged();
        await this.#releaseHeld(tenant, id);
      },
    });
    this.#options = options;
  }

  /** Only this answer shows the secret: a repeat is refused. A queue has none to show. */
  async register(caller: Caller, body: TriggerSubscriptionRegistration, origin: string): Promise<Registered> {
    const made = await this.#registering.run(caller.tenant, () => this.#register(caller, body, origin));
    this.#options.onChanged();
    return made;
  }

  #register(caller: Caller, body: TriggerSubscriptionRegistration, origin: string): Promise<Registered> {
    const { changes, store } = this.#options;
    const { tenant } = caller;
    return changes.run(caller, async (change): Promise<Registered> => {
      const wanted = wantedOf(body, caller.actor);
      await this.#checkStartable(caller, wanted);
      let secret = '';
      const trigger = change.createFor(triggers, (id) => {
        const minted = newTriggerSecret(this.#options, id);
        secret = minted.secret;
        return newTrigger(wanted, minted);
      });
      change.add(finderWrite(trigger));
      const subscription = viewOf(trigger);
      if (isQueue(trigger)) {
        change.add(...(await roomForSubscription(store, tenant, change.now)));
        return { subscription, binding: listeningOf(trigger) };
      }
      change.answerOnce(SHOWN_ONCE);
      return { subscription, binding: bindingOf(trigger, secret, origin) };
    });
  }

  /** With what they start and what they listen to. */
  async describe(
    { tenant }: Caller,
    limit: number,
    origin: string,
  ): Promise<(TriggerSubscription & TriggerPurpose)[]> {
    const listed = await listRecords(this.#options.store.entries, triggers, tenant, { limit });
    const described = listed.map(async (trigger) => ({
      ...viewOf(trigger),
      ...purposeOf(trigger),
      ...(trigger.record.source !== 'queue' && { ingestUrl: ingestUrlOf(origin, trigger.id) }),
      ...(await problemOf(trigger, this.#options)),
    }));
    return Promise.all(described);
  }

  /** From now on only the new secret counts. */
  async rotateSecret(
    caller: Caller,
    id: string,
    origin: string,
    matching: Matching = {},
  ): Promise<TriggerBinding> {
    const { changes } = this.#options;
    return changes.run(caller, async (change) => {
      const trigger = await change.get(triggers, id);
      mustMatch(trigger, matching);
      if (isQueue(trigger))
        throw conflict('A subscription to a queue has no secret: its messages are not signed.');
      const minted = newTriggerSecret(this.#options, id);
      change.answerOnce(SHOWN_ONCE);
      return bindingOf(change.replace(trigger, { ...trigger.record, ...minted }), minted.secret, origin);
    });
  }

  /** The scopes of the caller were checked before. */
  async #checkStartable(caller: Caller, { workflowId, inputMapping, source, origin }: Wanted): Promise<void> {
    const { workflows } = this.#options;
    const workflow = await workflows.resolve(caller.tenant, workflowId);
    if (!workflow) throw new OpenwopError('not_found', { message: 'There is no such workflow.' });
    await workflows.checkActing(runOwner(caller, origin), workflow.record);
    const found = mappingProblem(workflow.definition.variables, inputMapping, source);
    if (found !== null)
      throw invalid(`No event could start the workflow: ${found.problem}.`, {
        fields: [{ field: `body/inputMapping/${found.variable}`, problem: found.problem }],
      });
  }

  /** Deliveries that a pause postponed are due at once; if this process dies here, within an hour. */
  async #releaseHeld(tenant: string, id: string): Promise<void> {
    const { changes, store, now } = this.#options;
    if ((await readTrigger(store.entries, tenant, id))?.record.state !== 'active') return;
    const dueAt = now();
    for (let beforeId: string | undefined; ; ) {
      const filter = { ref: id, limit: RELEASE_PAGE, ...(beforeId !== undefined && { beforeId }) };
      const page = await listRecords(store.entries, deliveries, tenant, filter);
      const held = page.filter(
        ({ record: { state } }) => state.status === 'pending' && state.dueAt > dueAt && !state.waitsFor,
      );
      const release = held.map((delivery) => {
        const state = { ...delivery.record.state, dueAt };
        return changes.settle(TRIGGERS, delivery, { ...delivery.record, state });
      });
      await Promise.all(release);
      beforeId = page.at(-1)?.id;
      if (page.length < RELEASE_PAGE) return;
    }
  }
}

/** Its fingerprint is keyed, so that nobody can test guessed secrets against it. */
export function newTriggerSecret(options: SecretOptions, id: string) {
  const secret = newSecret(options);
  const fingerprint = options.masterKey.hmac('trigger-secret')(`${id}\0${secret}`).toString('hex');
  return { secret, secretFingerprint: fingerprint.slice(0, FINGERPRINT_LENGTH) };
}

function wantedOf(body: TriggerSubscriptionRegistration, principal: string): Wanted {
  const { source, workflowId } = body;
  const origin = { kind: 'api', principal } as const;
  if (source === 'queue') return queueRegistration(body, origin);
  if (body.topic !== undefined || body.consumerGroup !== undefined)
    throw invalid(`\`topic\` and \`consumerGroup\` are for the source \`queue\`, not for ${source}.`);
  return ingestWanted({ source, workflowId, origin }, body);
}

const ingestUrlOf = (origin: string, id: string): string => `${origin}/v1/ingest/${id}`;

const bindingOf = ({ id, record }: Trigger, secret: string, origin: string): TriggerBinding => ({
  ingestUrl: ingestUrlOf(origin, id),
  secret,
  secretFingerprint: record.secretFingerprint,
});

/** A repeat must not create another secret, and the answer with the first one is not recorded. */
const SHOWN_ONCE = conflict(
  'This request already made a secret, which was shown once. Rotate it to get a new one.',
);
