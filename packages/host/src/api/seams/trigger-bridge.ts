/** Events on their way through the trigger bridge: taken once, delivered, or given up. */
import type { Api } from '@gantry/http';
import {
  EmailMessage,
  newId,
  OpenwopError,
  TRIGGER_LIMITS,
  type TriggerDelivery,
  TriggerSource,
} from '@gantry/protocol';
import { type Caller, Changes, fromEntry } from '@gantry/resources';
import { CommitPipeline } from '@gantry/store';
import Type, { type Static } from 'typebox';
import type { IngestRequest } from '../../triggers/content.ts';
import { deliveries } from '../../triggers/delivery.ts';
import { dispatch, stored } from '../../triggers/dispatch.ts';
import { createIngest, type Ingest } from '../../triggers/ingest.ts';
import type { Triggers } from '../../triggers/triggers.ts';
import type { ApiDeps } from '../context.ts';
import { noop, seamId } from './definition.ts';
import { seam } from './seam.ts';

const ATTEMPTS = 2;
/** An event of the future: the clock of the host leaves it to the seam. */
const AHEAD_MS = 3_600_000;

const Deliver = Type.Object({
  scenario: Type.Enum(['dedup', 'exhaust', 'deliver']),
  dedupKey: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
});
const Delivered = Type.Object({
  subscriptionId: Type.String(),
  outcome: Type.Optional(Type.String()),
  deliveredCount: Type.Integer({ minimum: 0 }),
  runId: Type.Optional(Type.String()),
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
const Ingested = Type.Object({
  triggerEvent: Type.Optional(Type.Unknown()),
  deliveryEvent: Type.Optional(Type.Unknown()),
  ssrfRefused: Type.Optional(Type.Boolean()),
});

export type SeamTriggers = Pick<Triggers, 'service' | 'ingest' | 'tick'>;

const event = (dedupKey: string): Parameters<Ingest>[1] => ({
  headers: { 'content-type': 'application/json', 'idempotency-key': dedupKey },
  body: Buffer.from('{}'),
});

export function triggerBridgeSeam(app: Api, deps: ApiDeps, { service, ingest, tick }: SeamTriggers): void {
  const { workflows, now, randomBytes, runtime } = deps;

  async function subscribe(caller: Caller, source: TriggerSource = 'webhook'): Promise<string> {
    const { workflowId } = await workflows.register(caller.tenant, noop(seamId('triggered')));
    const retryPolicy = { maxAttempts: ATTEMPTS, backoff: 'none' } as const;
    const wanted = { source, workflowId, retryPolicy, verification: { mode: 'none' } } as const;
    return (await service.register(caller, wanted, '')).subscription.subscriptionId;
  }

  seam(app, 'trigger-bridge/ingest', [IngestEvent, Ingested], async ({ tenant, keyId }, body) => {
    const caller: Caller = { kind: 'person', tenant, actor: keyId };
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
      await service.end(caller, subscriptionId);
    }
  });

  seam(app, 'trigger-bridge/deliver', [Deliver, Delivered], async ({ tenant, keyId }, body) => {
    const caller: Caller = { kind: 'person', tenant, actor: keyId };
    const subscriptionId = await subscribe(caller);
    const sent = event(body.dedupKey ?? newId('evt', now(), randomBytes));
    try {
      if (body.scenario === 'exhaust') await exhaust(deps, caller.tenant, subscriptionId, sent);
      else {
        const times = body.scenario === 'dedup' ? 2 : 1;
        await Promise.all(Array.from({ length: times }, () => ingest(subscriptionId, sent)));
        await tick();
      }
      const page = await service.read(caller, 'deliveries', subscriptionId, { limit: ATTEMPTS });
      return { subscriptionId, ...summaryOf(page.deliveries) };
    } finally {
      await service.end(caller, subscriptionId);
    }
  });
}

/** As a sender would send it. */
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

/** Of `trigger.delivery.attempted`. */
function attemptOf({ subscriptionId, dedupKey, attempts, ...delivery }: TriggerDelivery) {
  const { outcome, runId, droppedAttachments = [] } = delivery;
  const about = { subscriptionId, dedupKey, attempt: attempts, ...(outcome && { outcome }) };
  const isRefused = droppedAttachments.some(({ reason }) => reason.endsWith('_not_allowed'));
  return {
    deliveryEvent: { ...about, ...(runId && { runId }) },
    ...(isRefused && { ssrfRefused: true }),
  };
}

/** On a host that never has room, which only its runtime can say. */
async function exhaust(
  deps: ApiDeps,
  tenant: string,
  subscriptionId: string,
  sent: Parameters<Ingest>[1],
): Promise<void> {
  const { store, info } = deps;
  const inputs = { ...deps, now: () => deps.now() + AHEAD_MS };
  const changes = new Changes({ ...inputs, pipeline: new CommitPipeline(store) });
  const later = { ...inputs, changes, retentionMs: info.retentionSeconds * 1_000, random: () => 0 };
  const { deliveryId: id } = await createIngest(later)(subscriptionId, sent);
  const create = async (): Promise<never> => {
    throw new OpenwopError('service_unavailable');
  };
  for (let attempts = 0; attempts < TRIGGER_LIMITS.attemptsMax; attempts++) {
    const entry = await store.entries.get({ kind: deliveries.kind, tenant, id });
    if (!entry || entry.dueAt === null) return;
    await dispatch({ ...later, runtime: { create } }, stored(fromEntry(deliveries, entry)));
  }
}

function summaryOf(deliveries: readonly TriggerDelivery[]): Omit<Static<typeof Delivered>, 'subscriptionId'> {
  const delivered = deliveries.filter(({ state }) => state === 'delivered');
  const { outcome } = delivered[0] ?? deliveries[0] ?? {};
  const runId = delivered[0]?.runId;
  return {
    ...(outcome !== undefined && { outcome }),
    deliveredCount: delivered.length,
    ...(runId !== undefined && { runId }),
  };
}
