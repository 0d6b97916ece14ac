/** A whole host whose topics a test publishes to, and which it can wait for. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type {
  Json,
  JsonObject,
  MethodOutput,
  TriggerSubscription,
  triggerSubscriptionsWire,
  WorkflowDefinition,
} from '@gantry/protocol';
import { openSqlite, type Store } from '@gantry/store';
import type { ConsumerGroup, NumberedCall, QueuePort } from '@gantry/surfaces';
import { type PackTest, packTest } from '../../../packs/testing/pack-test.ts';
import type { Settings } from '../../../settings.ts';
import { node, workflow } from '../../../testing/definitions.ts';
import { temporaryFolder } from '../../../testing/host-process.ts';

export const TENANT = 'default';
export const URL = '/v1/trigger-subscriptions';
export const HOST_URL = '/v1/host/gantry/trigger-subscriptions';

/** Its output is the payload that started it. */
export const seen = (id: string, more: Partial<WorkflowDefinition> = {}): WorkflowDefinition =>
  workflow(
    id,
    [
      node(
        'see',
        'core.identity',
        {},
        { inputs: { input: { type: 'expression', expression: 'trigger.payload' } } },
      ),
    ],
    more,
  );

/** A workflow that listens by itself. */
export const listening = (id: string, topic: string, config: JsonObject = {}): WorkflowDefinition =>
  seen(id, {
    triggers: [
      { id: 'in', type: 'event', eventType: 'core.messaging.consume', config: { topic, ...config } },
    ],
  });

let calls = 0;

/** A call of its own each time. */
function invocation(tenant = TENANT): NumberedCall {
  const id = `test-${process.pid}-${++calls}`;
  const facts = { tenant, runId: 'r', nodeId: 'n', ordinal: calls };
  return { id, journalKey: id, ...facts, method: 'queueBus', fingerprint: id };
}

export function publish(
  queue: QueuePort,
  topic: string,
  payload: Json,
  { tenant = TENANT, headers = {} }: { tenant?: string; headers?: Record<string, string> } = {},
): Promise<{ messageId: string }> {
  return queue.publish(
    { topic, payload, headers, delayMs: 0 },
    { tenant, now: Date.now(), invocation: invocation(tenant) },
  );
}

/** What a group has not acknowledged at that time. */
export async function leftIn(queue: QueuePort, consumers: ConsumerGroup, now: number): Promise<Json[]> {
  const request = { ...consumers, messagesMax: 100, visibilityMs: 1, waitMs: 0 };
  const { signal } = new AbortController();
  const found = await queue.consume(
    { ...request, signal },
    { tenant: TENANT, now, invocation: invocation() },
  );
  return found.map(({ payload }) => payload);
}

/** Tells of commits, so that tests wait for what happens instead of for a time. */
function audible(store: Store): { readonly store: Store; next(): Promise<void> } {
  let heard = Promise.withResolvers<void>();
  const commit: Store['commit'] = async (groups) => {
    const results = await store.commit(groups);
    heard.resolve();
    heard = Promise.withResolvers();
    return results;
  };
  return { store: { ...store, commit }, next: () => heard.promise };
}

export interface QueueTest extends PackTest {
  readonly queue: QueuePort;
  readonly store: Store;
  publish(topic: string, payload: Json, more?: Parameters<typeof publish>[3]): Promise<{ messageId: string }>;
  subscribe(body: JsonObject): Promise<Subscribed>;
  deliveriesOf(subscriptionId: string): Promise<MethodOutput<typeof triggerSubscriptionsWire, 'deliveries'>>;
  runIds(workflowId: string): Promise<string[]>;
  /** When so many runs of the workflow have ended: their outputs, in the order of their start. */
  outputs(workflowId: string, count: number): Promise<Json[]>;
  /** The next commit of this host. */
  next(): Promise<void>;
  /** Looks again after each commit. */
  until(isSo: () => Promise<boolean>): Promise<void>;
}

export interface Subscribed {
  readonly subscription: TriggerSubscription;
  readonly binding: { readonly topic: string; readonly consumerGroup: string };
}

export interface QueueTestOptions {
  readonly workflows?: readonly WorkflowDefinition[];
  readonly settings?: Partial<Settings>;
  readonly now?: () => number;
  /** Of several hosts on one database; else one of its own. */
  readonly store?: Store;
}

export async function queueTest(t: TestContext, options: QueueTestOptions = {}): Promise<QueueTest> {
  const { store, next } = audible(options.store ?? (await ownStore(t)));
  const api = await packTest(t, { ...options, store });
  const { queue } = api.host.services.surfaces;
  const until: QueueTest['until'] = async (isSo) => {
    for (;;) {
      const later = next();
      if (await isSo()) return;
      await later;
    }
  };
  const listed = async (workflowId: string, status = ''): Promise<string[]> => {
    const page = await api.get(`/v1/host/gantry/runs?limit=100&workflowId=${workflowId}${status}`);
    return page.json().runs.map(({ runId }: { runId: string }) => runId);
  };
  return {
    ...api,
    queue,
    store,
    next,
    until,
    publish: (topic, payload, more) => publish(queue, topic, payload, more),
    async subscribe(body) {
      const response = await api.post(URL, body);
      assert.equal(response.statusCode, 201, response.body);
      return response.json();
    },
    deliveriesOf: async (id) => (await api.get(`${HOST_URL}/${id}/deliveries`)).json(),
    runIds: (workflowId) => listed(workflowId),
    async outputs(workflowId, count) {
      await until(async () => (await listed(workflowId, '&status=completed')).length >= count);
      const runs = (await listed(workflowId)).toReversed().map((runId) => api.get(`/v1/runs/${runId}`));
      return (await Promise.all(runs)).map((run) => run.json().outputs);
    },
  };
}

async function ownStore(t: TestContext): Promise<Store> {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  return openSqlite({ dataDir: folder.path });
}
