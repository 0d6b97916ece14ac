/** Calls as ports get them. */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { numbered } from '../calls/call-journal.ts';
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

/** A write whose answer is sealed on record is repeated with the keys of the host, and without. */
export async function assertSealed(
  tenant: string,
  perform: (call: PortWrite) => Promise<unknown>,
): Promise<void> {
  const made = new Map<string, Uint8Array>();
  const keys = {
    make: () => {
      const [sealed, key] = [`key-${made.size}`, randomBytes(32)];
      made.set(sealed, key);
      return { sealed, key };
    },
    open: (_: unknown, sealed: string) => made.get(sealed) ?? assert.fail(`there is no ${sealed}`),
  };
  const call = write(tenant);
  const again = () => ({ ...call, invocation: numbered(call.invocation, keys) });
  const first = await perform(again());
  assert.deepEqual(await perform(again()), first);
  await assert.rejects(perform(call), /is sealed/);
}
