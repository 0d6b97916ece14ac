/** Calls as ports get them. */
import { randomUUID } from 'node:crypto';
import { fingerprintOf } from '../calls/data.ts';
import type { PortRead, PortWrite } from '../calls/surface-call.ts';

export const NOW = 1_800_000_000_000;

export const freshTenant = (): string => `tenant-${randomUUID()}`;

export const read = (tenant: string, now = NOW): PortRead => ({ tenant, now });

export interface WriteOptions {
  readonly now?: number;
  /** The same id is the same journalKey in a node. */
  readonly id?: string;
  readonly method?: string;
  readonly input?: unknown;
}

export function write(tenant: string, options: WriteOptions = {}): PortWrite {
  const { now = NOW, id = randomUUID(), method = 'test.write', input = null } = options;
  const fingerprint = fingerprintOf(method, input);
  const invocation = {
    id,
    journalKey: id,
    tenant,
    runId: 'run-1',
    nodeId: 'node-1',
    ordinal: 0,
    method,
    fingerprint,
  };
  return { tenant, now, invocation };
}
