import assert from 'node:assert/strict';
import { readAllowList } from '../allow-entry.ts';
import { createEgress, type Egress } from '../egress.ts';
import { EgressError, type EgressReason } from '../error.ts';
import type { EgressPolicy } from '../policy.ts';
import type { Lookup } from '../resolve.ts';

/** A resolver that knows these names and counts how often it was asked. */
export function fakeLookup(names: Readonly<Record<string, readonly string[]>>): Lookup & { asked: string[] } {
  const asked: string[] = [];
  const lookup: Lookup = async (hostname) => {
    asked.push(hostname);
    const addresses = names[hostname];
    if (!addresses) throw Object.assign(new Error(`no such name: ${hostname}`), { code: 'ENOTFOUND' });
    return addresses;
  };
  return Object.assign(lookup, { asked });
}

/** Ranges: they open names too. */
const LOOPBACK = [
  'http://127.0.0.0/8:*',
  'http://[::1/127]:*',
  'https://127.0.0.0/8:*',
  'https://[::1/127]:*',
];

/** This machine is open to every tenant, over http too. */
export const LOOPBACK_POLICY: EgressPolicy = {
  allow: readAllowList(LOOPBACK.map((origin) => `webhook=${origin}`).join()).map((entry) => ({
    ...entry,
    tenant: undefined,
  })),
};

/** May reach loopback. `hook.example` is this machine unless the test says otherwise. */
export const loopbackEgress = (lookup: Lookup = fakeLookup({ 'hook.example': ['127.0.0.1'] })): Egress =>
  createEgress({ policy: LOOPBACK_POLICY, lookup });

/** The failure of a request that must fail for this reason. */
export async function failsWith(work: Promise<unknown>, reason: EgressReason): Promise<EgressError> {
  const error = await work.then(
    () => assert.fail(`should fail with ${reason}`),
    (failure: unknown) => failure,
  );
  assert.ok(error instanceof EgressError, `${error}`);
  assert.equal(error.reason, reason, error.message);
  return error;
}

export const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
