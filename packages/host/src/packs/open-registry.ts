/** A registry as the settings name it: an address or a folder, with the keys that the operator gave for it. */
import { fileURLToPath } from 'node:url';
import { createEgress, type EgressPolicy, LOOPBACK_POLICY, PUBLIC_POLICY } from '@gantry/egress';
import { openFolderRegistry, openHttpRegistry, type Registry } from '@gantry/packs';
import { type HostTrust, ofRegistry } from './trust.ts';

/** The operator named the address, so it may lie in the operator's own network. */
const REGISTRY_POLICY: EgressPolicy = { ...PUBLIC_POLICY, allowPrivate: true };

export async function openRegistry(named: string, trust: HostTrust): Promise<Registry> {
  const roots = ofRegistry(trust, named)?.keys;
  const keys = roots === undefined ? {} : { roots };
  if (!/^https?:/.test(named)) {
    const folder = named.startsWith('file:') ? fileURLToPath(named) : named;
    return openFolderRegistry({ folder, ...keys });
  }
  const policy = named.startsWith('http:') ? LOOPBACK_POLICY : REGISTRY_POLICY;
  return openHttpRegistry({ url: named, egress: createEgress({ policy }), ...keys });
}
