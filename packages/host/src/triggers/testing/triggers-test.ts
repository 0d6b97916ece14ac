/** Triggers on a real store and runtime behind real routes, with a clock of the test's own. */

import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import type { TestContext } from 'node:test';
import { type Api, createServer, hashSecret } from '@gantry/http';
import { createTurns } from '@gantry/limiter';
import {
  deadLettersWire,
  type JsonObject,
  SCOPES,
  type TriggerSubscriptionCreated,
  triggerSubscriptionsWire,
  type WorkflowDefinition,
} from '@gantry/protocol';
import { Changes } from '@gantry/resources';
import { CommitPipeline, openSqlite, type Store } from '@gantry/store';
import type { LightMyRequestResponse } from 'fastify';
import { pino } from 'pino';
import { ACCESS } from '../../api/access.ts';
import { ingestRoute } from '../../api/ingest.ts';
import { resourceRoutes } from '../../api/resources.ts';
import { assertPublic } from '../../api/testing/api-test.ts';
import { triggerSubscriptionRoutes } from '../../api/trigger-subscriptions.ts';
import { createDeadLetters } from '../../dead-letters/dead-letter.ts';
import { openMasterKey } from '../../master-key.ts';
import { createRedactions } from '../../redaction/redactions.ts';
import { LocalRuntime } from '../../runtime/local-runtime.ts';
import { PoisonGuard } from '../../runtime/poison.ts';
import type { Outbox, ReadRun, ResolvedWorkflow, Runtime } from '../../runtime/runtime.ts';
import { node, workflow } from '../../testing/definitions.ts';
import { temporaryFolder } from '../../testing/host-process.ts';
import { noPackExecutor, noPacks } from '../../testing/no-packs.ts';
import { createWorkflows } from '../../workflows/workflows.ts';
import { createTriggerOutbox, createTriggers, type Triggers, type TriggersOptions } from '../triggers.ts';

/** Shows what its nodes see of the event. */
export const echo = workflow(
  'echo',
  [
    node(
      'see',
      'core.identity',
      {},
      {
        inputs: { input: { type: 'expression', expression: 'trigger.webhook.body.issue.id' } },
      },
    ),
  ],
  {
    variables: [
      { name: 'title', type: 'string' },
      { name: 'form', type: 'object' },
    ],
  },
);

export const TENANT = 'acme';
const RETENTION_MS = 30 * 86_400_000;
const LOG = pino({ level: 'silent' });
const MASTER_KEY = 'a'.repeat(64);
const LIMITS = { maxNodeExecutions: 1_000, maxRunDurationMs: 86_400_000_000, maxLoopIterations: 100 };

export interface TestClock {
  at: number;
}

export interface TriggersTest {
  readonly store: Store;
  readonly triggers: Triggers;
  readonly outbox: Outbox;
  readonly runtime: LocalRuntime;
  readonly clock: TestClock;
  register(definition: WorkflowDefinition, tenant?: string): Promise<void>;
  request(
    method: 'GET' | 'POST' | 'DELETE',
    url: string,
    body?: unknown,
    key?: string,
  ): Promise<LightMyRequestResponse>;
  subscribe(body: JsonObject): Promise<TriggerSubscriptionCreated>;
  /** An event as its sender sends it: no key. */
  send(url: string, body: string | Buffer, headers?: Record<string, string>): Promise<LightMyRequestResponse>;
  /** Time passes, and what is due is done. */
  later(ms: number): Promise<void>;
  ended(runId: string): Promise<ReadRun>;
  resolve(workflowId: string): Promise<ResolvedWorkflow>;
  runIds(): Promise<string[]>;
  stop(): Promise<void>;
}

export interface TestOptions {
  /** Of several hosts on one database. */
  readonly store?: Store;
  readonly dataDir?: string;
  readonly clock?: TestClock;
  /** A fault instead of creating runs. */
  readonly create?: () => Runtime['create'] | undefined;
  readonly inflightCap?: number;
  readonly attachments?: TriggersOptions['attachments'];
}

const unused = async (): Promise<never> => assert.fail('no attachments were expected');
const NO_ATTACHMENTS = { egress: { request: unused }, blobs: { put: unused, delete: unused }, bucket: 'b' };

export async function triggersTest(t: TestContext, options: TestOptions = {}): Promise<TriggersTest> {
  const { clock = { at: Date.UTC(2026, 7, 1) } } = options;
  const now = (): number => clock.at;
  const dataDir = options.dataDir ?? (await ownFolder(t));
  const store = options.store ?? (await openSqlite({ dataDir }));
  const masterKey = await openMasterKey({ settings: { masterKey: MASTER_KEY, dataDir }, store, now });
  const workflows = createWorkflows({ store, packs: noPacks, now, cacheMs: 0 });
  const create: Runtime['create'] = (...args) =>
    (options.create?.() ?? runtime.create.bind(runtime))(...args);
  const pipeline = new CommitPipeline(store, (group) => triggers.committed(group));
  const shared = { store, pipeline, now, randomBytes, redactions: createRedactions() };
  const changes = new Changes({ ...shared, sealer: masterKey });
  const parts = { ...shared, changes, workflows, masterKey, log: LOG, retentionMs: RETENTION_MS };
  const { outbox, channelWrites } = createTriggerOutbox(parts);
  const runtime: LocalRuntime = await LocalRuntime.open({
    poison: new PoisonGuard({ store, endsMax: 0, now }),
    packExecutor: noPackExecutor,
    ...shared,
    dataDir,
    log: LOG,
    limits: LIMITS,
    outbox,
    planOf: workflows.planOf,
    resolve: workflows.resolve,
    inflightCap: options.inflightCap ?? 100,
    turns: createTurns(),
    lease: { ttlMs: 60_000, renewEveryMs: null },
    onLeaseLost: () => {},
  });
  const triggers: Triggers = createTriggers({
    ...parts,
    channelWrites,
    attachments: options.attachments ?? NO_ATTACHMENTS,
    runtime: { create, prepare: runtime.prepare.bind(runtime), read: runtime.read.bind(runtime) },
  });
  const { service: letters } = createDeadLetters({ ...parts, runtime });
  await runtime.start();
  const app = await createApp(store, { ...triggers, letters }, now);
  let stopped = false;
  const stop = async (): Promise<void> => {
    if (stopped) return;
    stopped = true;
    await triggers.stop();
    await runtime.stop();
    await store.close();
  };
  t.after(stop);
  return {
    store,
    triggers,
    outbox,
    runtime,
    clock,
    stop,
    ...requests(app),
    async register(definition, tenant = TENANT) {
      await workflows.register(tenant, definition);
      await triggers.syncTriggers(tenant, definition);
    },
    async later(ms) {
      clock.at += ms;
      await triggers.tick();
    },
    ended: (runId) => endOf(runtime, runId),
    async resolve(workflowId) {
      return (await workflows.resolve(TENANT, workflowId)) ?? assert.fail(`no workflow ${workflowId}`);
    },
    runIds: async () => (await store.runs.list(TENANT, { limit: 100 })).map(({ runId }) => runId),
  };
}

async function ownFolder(t: TestContext): Promise<string> {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  return folder.path;
}

interface Served extends Triggers {
  readonly letters: ReturnType<typeof createDeadLetters>['service'];
}

/** The keys `all` and, of another tenant, `other`. */
async function createApp(store: Store, triggers: Served, now: () => number): Promise<Api> {
  for (const [name, tenant] of [
    ['all', TENANT],
    ['other', 'globex'],
  ] as const) {
    const dates = { createdAt: now(), expiresAt: null, revokedAt: null };
    const named = { keyId: `key_${name}`, principal: `principal_${name}`, name };
    const record = {
      ...named,
      tenant,
      workspace: 'default',
      hash: hashSecret(name),
      scopes: SCOPES,
      ...dates,
    };
    await store.commit([[{ kind: 'putKey', record }]]);
  }
  const { app, idempotency } = createServer({
    store,
    now,
    randomBytes,
    log: LOG,
    access: ACCESS,
    maxRequestBodyBytes: 1_048_576,
  });
  resourceRoutes(app, triggerSubscriptionsWire, triggers.service, idempotency);
  triggerSubscriptionRoutes(app, triggers.service, () => 'http://127.0.0.1', idempotency);
  resourceRoutes(app, deadLettersWire, triggers.letters, idempotency);
  ingestRoute(app, triggers.ingest);
  await app.ready();
  return app;
}

function requests(app: Api): Pick<TriggersTest, 'request' | 'send' | 'subscribe'> {
  const request: TriggersTest['request'] = async (method, url, body, key = 'all') => {
    const json = body === undefined ? {} : { payload: JSON.stringify(body) };
    const headers = {
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const response = await app.inject({ method, url, headers, ...json });
    if (response.statusCode >= 400) assertPublic('error-envelope.schema.json', response.json());
    return response;
  };
  return {
    request,
    async subscribe(body) {
      assertPublic('trigger-subscription-registration.schema.json', body);
      const response = await request('POST', '/v1/trigger-subscriptions', body);
      assert.equal(response.statusCode, 201, response.body);
      return response.json();
    },
    send: (url, payload, headers = {}) =>
      app.inject({
        method: 'POST',
        url: new URL(url).pathname,
        payload,
        headers: { 'content-type': 'application/json', ...headers },
      }),
  };
}

async function endOf(runtime: LocalRuntime, runId: string): Promise<ReadRun> {
  for (;;) {
    let heard = (): void => {};
    const next = new Promise<void>((resolve) => {
      heard = resolve;
    });
    const stop = runtime.subscribe({ tenant: TENANT, runId }, () => heard());
    const read = await runtime.read({ tenant: TENANT, runId });
    assert.ok(read, `there is no run ${runId}`);
    if (read.run.endedAt === undefined) await next;
    stop();
    if (read.run.endedAt !== undefined) return read;
  }
}

/** The headers of a sender that has the secret. */
export function signed(secret: string, body: string | Buffer, atMs: number): Record<string, string> {
  const timestamp = String(Math.floor(atMs / 1000));
  const digest = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex');
  return { 'x-openwop-timestamp': timestamp, 'x-openwop-signature': `sha256=${digest}` };
}
