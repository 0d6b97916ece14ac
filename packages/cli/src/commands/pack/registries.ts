/** Which registries a command asks, and how they are reached. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createEgress, type Egress, type EgressPolicy, LOOPBACK_POLICY, PUBLIC_POLICY } from '@gantry/egress';
import {
  openFolderRegistry,
  openHttpRegistry,
  type PackLock,
  Registries,
  type Registry,
} from '@gantry/packs';
import type { Call } from '../../command.ts';
import { type Io, UsageError } from '../../io.ts';

/** Whoever names an address may mean one in their own network. */
const NAMED_POLICY: EgressPolicy = { ...PUBLIC_POLICY, allowPrivate: true };

export const isAddress = (name: string): boolean => /^https?:/.test(name);

/** As the command line or the environment names them: the primary first, then the fallbacks. */
export function namedRegistries({ args, io }: Pick<Call, 'args' | 'io'>): string[] {
  const list = args.text('registry') ?? (io.env.GANTRY_REGISTRY_URL || '');
  return list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** Undefined when neither the command line, the environment nor the lockfile names one. */
export async function openRegistries(call: Call, lock?: PackLock): Promise<Registries | undefined> {
  const named = namedRegistries(call);
  const locked = lock?.registry === undefined ? [] : [lock.registry, ...(lock.fallbackRegistries ?? [])];
  const names = named.length > 0 ? named : locked;
  if (names.length === 0) return undefined;
  return new Registries({ registries: await Promise.all(names.map((name) => openRegistry(call, name))) });
}

export async function requireRegistries(call: Call, lock?: PackLock): Promise<Registries> {
  const registries = await openRegistries(call, lock);
  if (registries) return registries;
  throw new UsageError(
    'Say which registry to ask: --registry with an address or a folder, or GANTRY_REGISTRY_URL.',
  );
}

function openRegistry({ io }: Call, name: string): Promise<Registry> | Registry {
  if (isAddress(name)) return openHttpRegistry({ url: name, egress: egressTo(name, io) });
  const folder = name.startsWith('file:') ? fileURLToPath(name) : path.resolve(io.cwd, name);
  return openFolderRegistry({ folder });
}

const LOOPBACK = /^http:\/\/(127(\.\d{1,3}){3}|localhost|\[::1\])(:\d+)?(\/|$)/;

/** Plain http stays on this machine. Ctrl-C ends what is under way. */
export function egressTo(address: string, { signal }: Pick<Io, 'signal'>): Egress {
  const isPlain = address.startsWith('http:');
  if (isPlain && !LOOPBACK.test(address))
    throw new UsageError(`${address} is not on this machine, where alone plain http is safe. Use https.`);
  const egress = createEgress({ policy: isPlain ? LOOPBACK_POLICY : NAMED_POLICY });
  return {
    ...egress,
    request: (url, request) => egress.request(url, { ...request, signal }),
    stream: (url, request) => egress.stream(url, { ...request, signal }),
  };
}
