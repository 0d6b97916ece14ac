import type { Heartbeat, heartbeatsWire } from '@gantry/protocol';
import { HEARTBEATS } from '@gantry/protocol/tables';
import { api, type ResourceApi } from './api.ts';
import type { Transport } from './transport.ts';

type All = ResourceApi<typeof heartbeatsWire>;

export type TickPage = Awaited<ReturnType<All['ticks']>>;

/** Workflows that look at something now and then, and start another when it has changed. */
export interface Heartbeats extends Omit<All, 'list'> {
  /** Newest first. */
  list(): Promise<Heartbeat[]>;
}

export function createHeartbeats(transport: Transport): Heartbeats {
  const heartbeats = api<typeof heartbeatsWire>(transport, HEARTBEATS);
  return { ...heartbeats, list: async () => (await heartbeats.list()).heartbeats };
}
