/** For tests: what a host answers to every command of a resource, the same each time. */
import type { Answer, Routes } from './test-host.ts';

const T = '2026-01-01T00:00:00.000Z';
const LATER = '2026-01-02T00:00:00.000Z';
const HOST = '/v1/host/gantry';

const ok = (body: unknown): Answer => ({ status: 200, body });

const schedule = {
  scheduleId: 'sch_1',
  workflowId: 'report',
  status: 'active',
  cron: '0 9 * * 1-5',
  timezone: 'Europe/Berlin',
  missedTicks: 'fire-once',
  inputs: {},
  configurable: {},
  tags: [],
  metadata: {},
  createdAt: T,
  nextFireAt: LATER,
  lastFire: { scheduledFor: T, firedAt: T, runId: 'run-1' },
};
const once = {
  ...schedule,
  scheduleId: 'sch_2',
  cron: undefined,
  at: LATER,
  nextFireAt: undefined,
  status: 'ended',
  lastError: { scheduledFor: LATER, failedAt: LATER, code: 'not_found', message: 'gone', failures: 1 },
};
const heartbeat = {
  heartbeatId: 'hbt_1',
  workflowId: 'watch',
  intervalSec: 60,
  maxRuntimeMs: 5_000,
  createdAt: T,
  lastTick: {
    at: T,
    sequence: 0,
    evaluated: { heartbeatId: 'hbt_1', status: 'ok', changed: false },
  },
};
const webhook = {
  webhookId: 'whk_1',
  url: 'https://example.com/hook',
  events: ['run.*', 'node.failed'],
  durable: true,
  secretFingerprint: '01234567',
  state: 'active',
  circuit: 'open',
  circuitOpenUntil: LATER,
  consecutiveFailures: 3,
  failuresLast7Days: 3,
  createdAt: T,
};
const sent = {
  deliveryId: 'dlv_1',
  state: 'dead',
  attempts: 3,
  lastStatus: 503,
  lastReason: 'unavailable',
  createdAt: T,
};
const trigger = {
  subscriptionId: 'trg_1',
  source: 'webhook',
  state: 'paused',
  secretFingerprint: '89abcdef',
  createdAt: T,
};
const credential = {
  ref: 'stripe',
  kind: 'bearer',
  scope: 'tenant',
  audiences: ['api.stripe.com', '*.stripe.com'],
  header: 'authorization',
  state: 'active',
  expiresAt: LATER,
  versions: [
    { version: 2, createdAt: T },
    { version: 1, createdAt: T, until: LATER },
  ],
  sharedWith: [],
  givenToPackCode: false,
  warnings: ['It expires soon.'],
  createdAt: T,
};
const connection = {
  connectionId: 'con_1',
  provider: 'acme',
  grant: 'authorization_code',
  scope: 'user',
  workspace: 'default',
  principal: 'ada',
  access: 'read',
  scopes: ['mail'],
  state: 'expired',
  reason: 'refresh_failed',
  refreshable: true,
  authorizedAt: T,
  createdAt: T,
};
const client = {
  provider: 'acme',
  clientId: 'id-1',
  hasSecret: true,
  authMethod: 'basic',
  redirectUri: 'https://host/callback',
  createdAt: T,
};
const connector = {
  connectorId: 'ops',
  type: 'slack',
  credential: 'hook',
  channels: ['slack'],
  rateLimit: { requests: 1, perSeconds: 2 },
  state: 'disconnected',
  problem: '401',
  createdAt: T,
};
const letter = { reason: 'retries used up', attempts: 4, workflowId: 'ship', createdAt: T, expiresAt: LATER };
const letters = [
  { ...letter, deadLetterId: 'dl_1', type: 'run', runId: 'run-1', nodeId: 'a' },
  { ...letter, deadLetterId: 'dl_2', type: 'delivery', deliveryId: 'dlv_1' },
  {
    ...letter,
    deadLetterId: 'dl_3',
    type: 'schedule',
    scheduleId: 'sch_1',
    scheduledFor: T,
    message: 'no such workflow',
  },
];
const secret = 'f'.repeat(64);

/** The collection, one item and its removal; `methods` by what follows the item's path. */
function resource(path: string, list: string, items: readonly object[], id: string, at = `${HOST}/${path}`) {
  const [item] = items;
  return {
    [`GET ${at}`]: ok({ [list]: items, nextBefore: id }),
    [`POST ${at}`]: { status: 201, body: item },
    [`GET ${at}/${id}`]: ok(item),
    [`DELETE ${at}/${id}`]: ok(item),
  };
}

export const RECORDED: Routes = {
  ...resource('schedules', 'schedules', [schedule, once], 'sch_1'),
  [`POST ${HOST}/schedules/sch_1:pause`]: ok({ ...schedule, status: 'paused', nextFireAt: undefined }),
  [`POST ${HOST}/schedules/sch_1:resume`]: ok(schedule),
  [`GET ${HOST}/schedules/sch_1/next`]: ok({ times: [T, LATER] }),
  [`POST ${HOST}/schedules:preview`]: ok({ times: [] }),
  ...resource('heartbeats', 'heartbeats', [heartbeat], 'hbt_1'),
  ...resource('webhooks', 'webhooks', [webhook], 'whk_1', '/v1/webhooks'),
  'POST /v1/webhooks': { status: 201, body: { ...webhook, secret } },
  'DELETE /v1/webhooks/whk_1': { status: 200, body: {} },
  [`POST ${HOST}/webhooks/whk_1:resume`]: ok(webhook),
  [`POST ${HOST}/webhooks/whk_1:rotate-secret`]: ok({
    webhookId: 'whk_1',
    secret,
    secretFingerprint: '01234567',
    previousSecretUntil: LATER,
  }),
  [`GET ${HOST}/webhooks/whk_1/deliveries`]: ok({
    deliveries: [{ ...sent, webhookId: 'whk_1', sequence: 0, type: 'run.failed', runId: 'run-1' }],
    nextCursor: 'c1',
  }),
  [`POST ${HOST}/webhooks/whk_1/deliveries/dlv_1:resend`]: ok({ ...sent, state: 'pending' }),
  ...resource('trigger-subscriptions', 'subscriptions', [trigger], 'trg_1', '/v1/trigger-subscriptions'),
  'POST /v1/trigger-subscriptions': {
    status: 201,
    body: {
      subscription: trigger,
      binding: { ingestUrl: 'https://host/v1/ingest/trg_1', secret, secretFingerprint: '01234567' },
    },
  },
  [`GET ${HOST}/trigger-subscriptions`]: ok({
    subscriptions: [{ ...trigger, workflowId: 'ship', ingestUrl: 'https://host/v1/ingest/trg_1' }],
  }),
  [`POST ${HOST}/trigger-subscriptions/trg_1:pause`]: ok(trigger),
  [`POST ${HOST}/trigger-subscriptions/trg_1:resume`]: ok({ ...trigger, state: 'active' }),
  [`GET ${HOST}/trigger-subscriptions/trg_1/deliveries`]: ok({
    workflowId: 'ship',
    deliveries: [
      {
        deliveryId: 'dlv_1',
        subscriptionId: 'trg_1',
        state: 'dead-lettered',
        dedupKey: 'k',
        verified: true,
        attempts: 2,
        reason: 'no workflow',
        receivedAt: T,
      },
    ],
    stateChanges: [{ at: T, fromState: 'active', toState: 'paused', reason: 'operator-paused' }],
    problem: 'its topic is unreachable',
    nextCursor: 'c1',
  }),
  ...resource('dead-letters', 'deadLetters', letters, 'dl_1'),
  [`POST ${HOST}/dead-letters/dl_1:retry`]: ok({ type: 'run', runId: 'run-2', sourceRunId: 'run-1' }),
  [`POST ${HOST}/dead-letters/dl_2:retry`]: ok({ type: 'delivery', deliveryId: 'dlv_1' }),
  [`POST ${HOST}/dead-letters/dl_3:retry`]: ok({ type: 'schedule', scheduleId: 'sch_1' }),
  ...resource('credentials', 'credentials', [credential], 'stripe'),
  ...Object.fromEntries(
    ['rotate', 'share', 'unshare', 'revoke'].map((verb) => [
      `POST ${HOST}/credentials/stripe:${verb}`,
      ok(credential),
    ]),
  ),
  [`POST ${HOST}/rekey`]: ok({ state: 'done', keyId: 'k2', resealed: 3, unreadable: 1, endsAt: LATER }),
  ...resource('connections', 'connections', [connection], 'con_1'),
  [`POST ${HOST}/connections`]: {
    status: 201,
    body: { provider: 'acme', authorizeUrl: 'https://host/authorize', expiresAt: LATER },
  },
  ...resource('oauth-clients', 'clients', [client], 'acme'),
  ...resource('connectors', 'connectors', [connector], 'ops'),
  [`GET ${HOST}/connectors/ops/check`]: ok({ ok: false, detail: 'it answers 401', next: 'Rotate it.' }),
  [`POST ${HOST}/connectors/ops:reconnect`]: ok({ ...connector, state: 'active' }),
  [`POST ${HOST}/connectors/ops:resend`]: ok({ ...sent, connectorId: 'ops', channel: 'slack' }),
  [`GET ${HOST}/connectors/ops/deliveries`]: ok({
    deliveries: [{ ...sent, connectorId: 'ops', channel: 'slack', runId: 'run-1' }],
  }),
};
