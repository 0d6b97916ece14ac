/** The resources of a host: one line each, from which clients and commands follow. */
export * from './acts.ts';
export * from './connections.ts';
export * from './connectors.ts';
export * from './credentials.ts';
export * from './dead-letters.ts';
export * from './heartbeats.ts';
export * from './schedules.ts';
export * from './trigger-subscriptions.ts';
export * from './webhooks.ts';
