import type { CreateHeartbeatRequest, Heartbeat, HeartbeatTick } from '@gantry/protocol';
import { createCalls } from './calls.ts';
import type { Transport } from './transport.ts';

export interface TickPage {
  ticks: HeartbeatTick[];
  /** Pass as `before` to get the next, older page. */
  nextBefore?: string;
}

/** Workflows that look at something now and then, and start another when it has changed. */
export interface Heartbeats {
  /** Newest first. */
  list(): Promise<Heartbeat[]>;
  get(heartbeatId: string): Promise<Heartbeat>;
  create(request: CreateHeartbeatRequest): Promise<Heartbeat>;
  remove(heartbeatId: string): Promise<Heartbeat>;
  /** What it saw, newest first. */
  ticks(heartbeatId: string, page?: { before?: string; limit?: number }): Promise<TickPage>;
}

const HEARTBEATS = '/v1/host/gantry/heartbeats';

export function createHeartbeats(transport: Transport): Heartbeats {
  const { read, send, remove } = createCalls(transport);
  const heartbeatPath = (heartbeatId: string) => `${HEARTBEATS}/${encodeURIComponent(heartbeatId)}`;
  return {
    list: async () => (await read<{ heartbeats: Heartbeat[] }>(HEARTBEATS)).heartbeats,
    get: (heartbeatId) => read(heartbeatPath(heartbeatId)),
    create: (request) => send(HEARTBEATS, request),
    remove: (heartbeatId) => remove(heartbeatPath(heartbeatId)),
    ticks: (heartbeatId, page = {}) => read(`${heartbeatPath(heartbeatId)}/ticks`, { ...page }),
  };
}
