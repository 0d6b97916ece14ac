/** Webhooks on a real store behind real routes, with a clock of the test's own. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { TestContext } from 'node:test';
import { createEgress, type EgressPolicy, type Lookup } from '@gantry/egress';
import type { RunFacts } from '@gantry/engine';
import { hashSecret } from '@gantry/http';
import {
  newRunId,
  type RegisterWebhookResponse,
  type StoredEvent,
  type WebhookDelivery,
} from '@gantry/protocol';
import { Changes, type ChangesOptions } from '@gantry/resources';
import { CommitPipeline, openSqlite, type Store } from '@gantry/store';
import type { InjectOptions, LightMyRequestResponse } from 'fastify';
import { pino } from 'pino';
import { LOOPBACK_POLICY } from '../../../../egress/src/testing/egress.ts';
import { openMasterKey } from '../../master-key.ts';
import { toStoredFacts } from '../../runtime/run-record.ts';
import { temporaryFolder } from '../../testing/host-process.ts';
import { createWebhooks, type Webhooks } from '../webhooks.ts';
import { webhookApp } from './routes.ts';

const linksOf = async () => [];
const START = 1_790_000_000_000;
const LIMITS = { maxNodeExecutions: 1, maxRunDurationMs: 1, maxLoopIterations: 1 };

export interface World {
  readonly store: Store;
  readonly webhooks: Webhooks;
  readonly logged: readonly string[];
  /** Resolves when the test is over: what it still holds back must let go. */
  readonly ending: Promise<void>;
  now(): number;
  /** Moves the clock. */
  pass(ms: number): void;
  /** Moves the clock and looks at what fell due. */
  advance(ms: number): void;
  /** Another process on the same database. */
  another(more?: { store?: Store }): Webhooks;
  key(tenant: string, scopes?: readonly string[]): Promise<string>;
  /** With the key of `acme`, unless the headers say otherwise. */
  request(method: 'GET' | 'POST' | 'DELETE', url: string, more?: Request): Promise<LightMyRequestResponse>;
  register(body: object): Promise<RegisterWebhookResponse>;
  /** A run of these event types, committed with its deliveries by this process, unless another is given. */
  happen(types: readonly string[], facts?: Partial<RunFacts>, by?: Webhooks): Promise<RunFacts>;
  deliveries(webhookId: string, query?: string): Promise<WebhookDelivery[]>;
  /** Resolves when `holds` does; looked at after each commit. */
  until<T>(read: () => Promise<T>, holds: (value: T) => boolean): Promise<T>;
}

interface Request {
  readonly body?: object;
  readonly key?: string;
  readonly headers?: Record<string, string>;
}

interface WorldOptions {
  readonly policy?: EgressPolicy;
  readonly lookup?: Lookup;
}

export async function createWorld(t: TestContext, options: WorldOptions = {}): Promise<World> {
  const folder = await temporaryFolder();
  const { store, committed } = observed(await openSqlite({ dataDir: folder.path }));
  let at = START;
  const now = (): number => at;
  const logged: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) });
  const settings = { masterKey: undefined, dataDir: folder.path };
  const masterKey = await openMasterKey({ settings, store, now });
  const egress = createEgress({
    policy: options.policy ?? LOOPBACK_POLICY,
    ...(options.lookup && { lookup: options.lookup }),
  });
  const processes: Webhooks[] = [];
  const another: World['another'] = (more = {}) => {
    const changes = changesOn({ store, now, randomBytes, sealer: masterKey, ...more });
    const webhooks = createWebhooks({ egress, masterKey, log, linksOf, ...changes });
    processes.push(webhooks);
    return webhooks;
  };
  const webhooks = another();
  await webhooks.start();
  const app = await webhookApp({ store, service: webhooks.service, now, log });
  const ending = Promise.withResolvers<void>();
  t.after(async () => {
    ending.resolve();
    await Promise.all(processes.map((each) => each.stop()));
    await app.close();
    await store.close();
    await folder.remove();
  });
  const key: World['key'] = (tenant, scopes = ['webhooks:manage']) => addKey(store, tenant, scopes);
  const request = requests((inject) => app.inject(inject), await key('acme'));
  return {
    store,
    webhooks,
    logged,
    now,
    another,
    key,
    request,
    ending: ending.promise,
    pass: (ms) => {
      at += ms;
    },
    advance(ms) {
      at += ms;
      for (const each of processes) each.wake();
    },
    async register(body) {
      const response = await request('POST', '/v1/webhooks', { body });
      assert.equal(response.statusCode, 201, response.body);
      return response.json();
    },
    happen: (types, facts, by = webhooks) => happen({ store, webhooks: by, now }, types, facts),
    async deliveries(webhookId, query = '') {
      const response = await request('GET', `/v1/host/gantry/webhooks/${webhookId}/deliveries${query}`);
      assert.equal(response.statusCode, 200, response.body);
      return response.json().deliveries;
    },
    until: untilWith(committed),
  };
}

/** Looks again after each commit. */
const untilWith =
  (committed: () => Promise<unknown>): World['until'] =>
  async (read, holds) => {
    for (;;) {
      const next = committed();
      const value = await read();
      if (holds(value)) return value;
      await next;
    }
  };

const changesOn = (inputs: Omit<ChangesOptions, 'pipeline'> & { readonly store: Store }) => ({
  ...inputs,
  changes: new Changes({ ...inputs, pipeline: new CommitPipeline(inputs.store) }),
});

/** The store, and a promise of its next commit. */
function observed(real: Store): { store: Store; committed(): Promise<void> } {
  let waiting: (() => void)[] = [];
  const commit: Store['commit'] = async (groups) => {
    const results = await real.commit(groups);
    const rung = waiting;
    waiting = [];
    for (const ring of rung) ring();
    return results;
  };
  return {
    store: { ...real, commit },
    committed: () => new Promise<void>((resolve) => waiting.push(resolve)),
  };
}

async function addKey(store: Store, tenant: string, scopes: readonly string[]): Promise<string> {
  const secret = `gk_${randomBytes(16).toString('hex')}`;
  const keyId = `key_${randomBytes(8).toString('hex')}`;
  const record = {
    keyId,
    tenant,
    workspace: 'default',
    principal: keyId,
    name: tenant,
    hash: hashSecret(secret),
    scopes,
    createdAt: START,
  };
  await store.commit([[{ kind: 'putKey', record: { ...record, expiresAt: null, revokedAt: null } }]]);
  return secret;
}

const requests =
  (inject: (options: InjectOptions) => Promise<LightMyRequestResponse>, own: string): World['request'] =>
  (method, url, { body, key = own, headers = {} } = {}) =>
    inject({
      method,
      url,
      ...(body && { payload: JSON.stringify(body) }),
      headers: {
        authorization: `Bearer ${key}`,
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
    });

async function happen(
  world: Pick<World, 'store' | 'webhooks' | 'now'>,
  types: readonly string[],
  more: Partial<RunFacts> = {},
): Promise<RunFacts> {
  const { store, webhooks, now } = world;
  const facts: RunFacts = runFacts({ createdAt: now(), ...more });
  const events = types.map((type, sequence) => storedEvent(type, sequence, now()));
  const head = { status: 'completed', owner: null, wakeAt: null, endedAt: now() } as const;
  const create = { kind: 'createRun', facts: toStoredFacts(facts, null), head, events } as const;
  const [result] = await store.commit([[create, ...webhooks.outbox.writes(facts, events)]]);
  assert.ok(result?.won);
  webhooks.outbox.committed();
  return facts;
}

export const runFacts = (more: Partial<RunFacts> = {}): RunFacts => ({
  runId: newRunId(more.createdAt ?? START, randomBytes),
  workflowId: 'wf',
  workflowHash: 'sha256-wf',
  owner: { tenant: 'acme' },
  createdAt: START,
  inputs: {},
  configurable: {},
  tags: [],
  metadata: {},
  limits: LIMITS,
  ...more,
});

export const storedEvent = (type: string, sequence: number, at = START): StoredEvent => ({
  sequence,
  type,
  at,
  nodeId: null,
  causationId: null,
  payload: `{"n":${sequence}}`,
  sealed: '{"clear":"never leaves"}',
});

export const states = (list: readonly WebhookDelivery[]): string[] => list.map(({ state }) => state);

/** All deliveries, once none of them is pending. */
export const finished = (world: World, webhookId: string): Promise<WebhookDelivery[]> =>
  world.until(
    () => world.deliveries(webhookId),
    (list) => list.length > 0 && !states(list).includes('pending'),
  );
