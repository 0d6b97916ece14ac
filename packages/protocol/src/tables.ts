/**
 * The names of resources and their methods, made from `resources/` by `npm run tables`. This module imports
 * nothing, so that browsers load little.
 */
export const TABLES = {
  acts: { path: 'acts', id: 'actId' },
  connections: { path: 'connections', id: 'connectionId' },
  connectors: {
    path: 'connectors',
    id: 'connectorId',
    item: { check: 'read', reconnect: 'write', resend: 'write', deliveries: 'read' },
  },
  credentials: {
    path: 'credentials',
    id: 'ref',
    item: { rotate: 'write', share: 'write', unshare: 'write', revoke: 'write' },
  },
  deadLetters: { path: 'dead-letters', list: 'deadLetters', id: 'deadLetterId', item: { retry: 'write' } },
  heartbeats: { path: 'heartbeats', id: 'heartbeatId', item: { ticks: 'read' } },
  oauthClients: { path: 'oauth-clients', list: 'clients', id: 'provider' },
  schedules: {
    path: 'schedules',
    id: 'scheduleId',
    item: { pause: 'write', resume: 'write', next: 'read' },
    all: { preview: 'read' },
  },
  triggerSubscriptions: {
    path: 'trigger-subscriptions',
    url: '/v1/trigger-subscriptions',
    list: 'subscriptions',
    id: 'subscriptionId',
    item: { pause: 'write', resume: 'write', 'rotate-secret': 'write', deliveries: 'read' },
  },
  webhooks: {
    path: 'webhooks',
    url: '/v1/webhooks',
    alsoListed: 'subscriptions',
    id: 'webhookId',
    item: { resume: 'write', 'rotate-secret': 'write', deliveries: 'read' },
  },
} as const;
