/** Events in the trigger bridge: accepted once, delivered, or given up. */
import type { Api } from '@gantry/http';
import {
  EmailMessage,
  eventId,
  given,
  type JsonObject,
  newId,
  OpenwopError,
  type RunEventDocSchema,
  TRIGGER_LIMITS,
  type TriggerDelivery,
  TriggerSource,
} from '@gantry/protocol';
import { type Caller, Changes, fromEntry, personCaller } from '@gantry/resources';
import { CommitPipeline } from '@gantry/store';
import Type, { type Static } from 'typebox';
import { contentOf, type IngestRequest } from '../../triggers/content.ts';
import { deliveries } from '../../triggers/delivery.ts';
import { dispatch, stored } from '../../triggers/dispatch.ts';
import { type Arrival, take } from '../../triggers/ingest.ts';
import { findTrigger, type IngestTrigger } from '../../triggers/trigger.ts';
import type { Triggers } from '../../triggers/triggers.ts';
import type { ApiDeps } from '../context.ts';
import { noop, seamId } from './definition.ts';
import { seam } from './seam.ts';

const ATTEMPTS = 2;
/** The event is in the future, so that the clock of the host does not deliver it before the seam does. */
const AHEAD_MS = 3_600_000;
const RETENTION_MS = 86_400_000;

const Deliver = Type.Object({
  scenario: Type.Enum(['dedup', 'exhaust', 'deliver']),
  dedupKey: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
});

const IngestEvent = Type.Object({
  source: TriggerSource,
  verification: Type.Optional(Type.Object({ mode: Type.Optional(Type.Literal('none')) })),
  attachmentUrl: Type.Optional(Type.String({ maxLength: 2_048 })),
  webhook: Type.Optional(
    Type.Object({
      method: Type.Optional(Type.Literal('POST')),
      headers: Type.Optional(Type.Record(Type.String(), Type.String())),
      body: Type.Optional(Type.Unknown()),
    }),
  ),
  email: Type.Optional(Type.Omit(EmailMessage, ['attachments'])),
  form: Type.Optional(Type.Object({ fields: Type.Record(Type.String(), Type.Unknown()) })),
});

type Page = { readonly deliveries: readonly TriggerDelivery[] };

export type SeamTriggers = Pick<Triggers, 'service' | 'ingest' | 'tick'>;

/** The suite reads events without a run under this id. */
export const WITHOUT_RUN = '__exhaust__';
type Logged = Static<typeof RunEventDocSchema>;

/** The events of the last delivery without a run, by tenant. */
export class RunlessLog {
  readonly #events = new Map<string, Logged[]>();

  of(tenant: string): Logged[] {
    return this.#events.get(tenant) ?? [];
  }

  put(tenant: string, told: readonly { readonly type: string; readonly payload: JsonObject }[], at: number) {
    const timestamp = new Date(at).toISOString();
    const events = told.map(({ type, payload }, sequence) => ({
      eventId: eventId(WITHOUT_RUN, sequence),
      runId: WITHOUT_RUN,
      type,
      payload,
      timestamp,
      sequence,
    }));
    this.#events.set(tenant, events as Logged[]);
  }
}

export function triggerBridgeSeam(
  app: Api,
  deps: ApiDeps,
  { service, ingest, tick }: SeamTriggers,
  runless: RunlessLog,
): void {
  const { workflows, now, randomBytes, runtime, store } = deps;

  async function subscribe(caller: Caller, source: TriggerSource = 'webhook'): Promise<string> {
    const { workflowId } = await workflows.register(caller.tenant, noop(seamId('triggered')));
    const retryPolicy = { maxAttempts: ATTEMPTS, backoff: 'none' } as const;
    const wanted = { source, workflowId, retryPolicy, verification: { mode: 'none' } } as const;
    return (await service.register(caller, wanted, '')).subscription.subscriptionId;
  }

  seam(app, 'trigger-bridge/ingest', IngestEvent, async (sender, body) => {
    const caller = personCaller(sender);
    const { tenant } = sender;
    const subscriptionId = await subscribe(caller, body.source);
    try {
      await ingest(subscriptionId, requestOf(body));
      await tick();
      const page = await service.read(caller, 'deliveries', subscriptionId, { limit: 1 });
      const [delivery] = page.deliveries;
      const run =
        delivery?.runId === undefined ? null : await runtime.read({ tenant, runId: delivery.runId });
      return {
        ...(run && { triggerEvent: run.run.facts.triggerData }),
        ...(delivery && attemptOf(delivery)),
      };
    } finally {
      await service.remove(caller, subscriptionId);
    }
  });

  seam(app, 'trigger-bridge/deliver', Deliver, async (sender, body) => {
    const caller = personCaller(sender);
    const { tenant } = sender;
    const subscriptionId = await subscribe(caller);
    const trigger = await findTrigger(store.entries, subscriptionId);
    if (!trigger) throw new OpenwopError('not_found');
    // The suite names the key, which senders never do
    const dedupKey = body.dedupKey ?? newId('evt', now(), randomBytes);
    const arrival = {
      verified: false,
      dedupKey,
      content: contentOf('webhook', requestOf({ source: 'webhook' })),
    };
    try {
      if (body.scenario === 'exhaust') await exhaust(deps, trigger, arrival);
      else {
        const options = {
          ...deps,
          changes: new Changes({ ...deps, pipeline: new CommitPipeline(store) }),
          retentionMs: RETENTION_MS,
        };
        const times = body.scenario === 'dedup' ? 2 : 1;
        await Promise.all(Array.from({ length: times }, () => take(options, trigger, arrival)));
        await tick();
      }
      const page = await service.read(caller, 'deliveries', subscriptionId, { limit: ATTEMPTS });
      if (body.scenario === 'exhaust') runless.put(tenant, toldOf(page, trigger), now());
      return { subscriptionId, ...summaryOf(page.deliveries) };
    } finally {
      await service.remove(caller, subscriptionId);
    }
  });
}

/** The request as a sender would send it. */
function requestOf({ source, attachmentUrl: url, ...sent }: Static<typeof IngestEvent>): IngestRequest {
  const attachments = url === undefined ? [] : [{ url }];
  const email = sent.email ?? { from: 'sender@example.com', to: ['workflow@example.com'], text: 'Hello' };
  const bodies = {
    webhook: sent.webhook?.body ?? {},
    form: sent.form?.fields ?? {},
    email: { ...email, attachments },
  };
  const headers = Object.entries(source === 'webhook' ? (sent.webhook?.headers ?? {}) : {});
  return {
    headers: {
      'content-type': 'application/json',
      ...Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])),
    },
    body: Buffer.from(JSON.stringify(bodies[source])),
  };
}

/** The payload of `trigger.delivery.attempted`. */
function attemptOf({ subscriptionId, dedupKey, attempts, ...delivery }: TriggerDelivery) {
  const { outcome, runId, droppedAttachments = [] } = delivery;
  const about = { subscriptionId, dedupKey, attempt: attempts, ...(outcome && { outcome }) };
  const isRefused = droppedAttachments.some(({ reason }) => reason.endsWith('_not_allowed'));
  return {
    deliveryEvent: { ...about, ...(runId && { runId }) },
    ...(isRefused && { ssrfRefused: true }),
  };
}

/** Simulates a runtime that never has capacity. */
async function exhaust(deps: ApiDeps, trigger: IngestTrigger, arrival: Arrival): Promise<void> {
  const { store } = deps;
  const inputs = { ...deps, now: () => deps.now() + AHEAD_MS };
  const changes = new Changes({ ...inputs, pipeline: new CommitPipeline(store) });
  const later = { ...inputs, changes, retentionMs: RETENTION_MS, random: () => 0 };
  const { deliveryId: id } = await take(later, trigger, arrival);
  const create = async (): Promise<never> => {
    throw new OpenwopError('service_unavailable');
  };
  for (let attempts = 0; attempts < TRIGGER_LIMITS.attemptsMax; attempts++) {
    const entry = await store.entries.get({ kind: deliveries.kind, tenant: trigger.tenant, id });
    if (!entry || entry.dueAt === null) return;
    await dispatch({ ...later, runtime: { create } }, stored(fromEntry(deliveries, entry)));
  }
}

/** Events for each attempt of the delivery, then for the end of its subscription by this seam. */
function toldOf({ deliveries: [delivery] }: Page, { id: subscriptionId, record }: IngestTrigger) {
  const { dedupKey = '', attempts = 0, outcome = 'retrying' } = delivery ?? {};
  const tries = Array.from({ length: attempts }, (_, index) => ({
    type: 'trigger.delivery.attempted',
    payload: {
      subscriptionId,
      dedupKey,
      attempt: index + 1,
      outcome: index + 1 < attempts ? 'retrying' : outcome,
    },
  }));
  const { source, state: fromState } = record;
  const change = { subscriptionId, source, fromState, toState: 'dead-lettered', reason: 'source-removed' };
  return [...tries, { type: 'trigger.subscription.state.changed', payload: change }];
}

function summaryOf(deliveries: readonly TriggerDelivery[]): object {
  const delivered = deliveries.filter(({ state }) => state === 'delivered');
  const { outcome } = delivered[0] ?? deliveries[0] ?? {};
  const runId = delivered[0]?.runId;
  return given({ outcome, deliveredCount: delivered.length, runId });
}
