/** The registry to copy, as an operator names it: an address or a folder. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createEgress, type EgressPolicy, LOOPBACK_POLICY, PUBLIC_POLICY } from '@gantry/egress';
import { type CopyableRegistry, openFolderRegistry, openHttpRegistry } from '@gantry/packs';
import { SettingsError } from '../settings.ts';

/** Whoever names an address may mean one in their own network. */
const NAMED_POLICY: EgressPolicy = { ...PUBLIC_POLICY, allowPrivate: true };
const TIMEOUT_MS = 60_000;

export async function openSource(named: string, signal: AbortSignal): Promise<CopyableRegistry> {
  if (/^https?:/.test(named)) return openAddress(named, signal);
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(named) && !named.startsWith('file:'))
    throw new SettingsError(`${named} is neither https://... nor file://... nor a folder.`);
  return openFolderRegistry({
    folder: named.startsWith('file:') ? fileURLToPath(named) : path.resolve(named),
  });
}

/** Plain http stays on this machine. */
function openAddress(url: string, signal: AbortSignal): CopyableRegistry {
  const egress = createEgress({ policy: url.startsWith('http:') ? LOOPBACK_POLICY : NAMED_POLICY });
  return openHttpRegistry({
    url,
    timeoutMs: TIMEOUT_MS,
    egress: {
      ...egress,
      request: (address, request) => egress.request(address, { ...request, signal }),
    },
  });
}
