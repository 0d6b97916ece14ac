/** The names of resources. This module imports nothing at run time, so that browsers load little. */
import type { Table } from './wire.ts';

export const SCHEDULES = {
  path: 'schedules',
  id: 'scheduleId',
  item: { pause: 'write', resume: 'write', next: 'read' },
  all: { preview: 'read' },
} as const satisfies Table;

export const HEARTBEATS = {
  path: 'heartbeats',
  id: 'heartbeatId',
  item: { ticks: 'read' },
} as const satisfies Table;

export const WEBHOOKS = {
  path: 'webhooks',
  url: '/v1/webhooks',
  alsoListed: 'subscriptions',
  id: 'webhookId',
  item: { resume: 'write', 'rotate-secret': 'write', deliveries: 'read' },
} as const satisfies Table;

export const TRIGGER_SUBSCRIPTIONS = {
  path: 'trigger-subscriptions',
  url: '/v1/trigger-subscriptions',
  list: 'subscriptions',
  id: 'subscriptionId',
  item: { pause: 'write', resume: 'write', 'rotate-secret': 'write', deliveries: 'read' },
} as const satisfies Table;

export const DEAD_LETTERS = {
  path: 'dead-letters',
  list: 'deadLetters',
  id: 'deadLetterId',
  item: { retry: 'write' },
} as const satisfies Table;

export const CREDENTIALS = {
  path: 'credentials',
  id: 'ref',
  item: { rotate: 'write', share: 'write', unshare: 'write', revoke: 'write' },
} as const satisfies Table;

export const OAUTH_CLIENTS = {
  path: 'oauth-clients',
  list: 'clients',
  id: 'provider',
} as const satisfies Table;

export const CONNECTIONS = {
  path: 'connections',
  id: 'connectionId',
} as const satisfies Table;

/** Read only. */
export const ACTS = { path: 'acts', id: 'actId' } as const satisfies Table;

export const CONNECTORS = {
  path: 'connectors',
  id: 'connectorId',
  item: { check: 'read', reconnect: 'write', resend: 'write', deliveries: 'read' },
} as const satisfies Table;
