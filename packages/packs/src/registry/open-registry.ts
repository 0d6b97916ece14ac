/** Registries as users name them: `https://...`, a folder, `file://...`, or plain http on this machine. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createEgressByPurpose, type EgressByPurpose } from '@gantry/egress';
import type { TrustedKey } from '../trust/keys.ts';
import { openFolderRegistry } from './folder-registry.ts';
import { openHttpRegistry } from './http-registry.ts';
import type { CopyableRegistry } from './registry.ts';

const LOCAL_HTTP = /^http:\/\/(127(\.\d{1,3}){3}|localhost|\[::1\])(:\d+)?(\/|$)/;

/** `PUBLIC=MIRROR` pairs: the registry that each mirror is a copy of. Throws for a pair that cannot be read. */
export function readMirrors(list: readonly string[]): ReadonlyMap<string, string> {
  const pairs = list.map((pair) => pair.split('=').map((name) => name.trim().replace(/\/+$/, '')));
  for (const [index, [of = '', mirror = '', ...more]] of pairs.entries()) {
    if (of === '' || mirror === '' || more.length > 0)
      throw new Error(
        `"${list[index]}" is not REGISTRY=MIRROR, such as https://a.example=https://b.example.`,
      );
    assertRegistry(mirror);
  }
  return new Map(pairs.map(([of = '', mirror = '']) => [mirror, of.replace(/\/v1$/, '')]));
}

/** Names separated by commas, the primary first, then the fallbacks. Throws for a name that cannot be a registry. */
export function readRegistries(list = ''): string[] {
  const names = list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  for (const name of names) assertRegistry(name);
  return names;
}

function assertRegistry(name: string): void {
  const isUrl = /^[a-z][a-z0-9+.-]+:/i.test(name);
  if (!isUrl || /^(https|file):\/\/./.test(name) || LOCAL_HTTP.test(name)) return;
  throw new Error(
    `${name} is neither https://... nor file://... nor a folder; plain http is for this machine alone.`,
  );
}

export const isRegistryAddress = (name: string): boolean => /^https?:/.test(name);

export interface OpenRegistryOptions {
  /** Where folders begin. */
  readonly cwd?: string;
  readonly roots?: readonly TrustedKey[] | undefined;
  /** The registry that this one is a copy of, where another server serves it. */
  readonly mirrorOf?: string | undefined;
  /** Of a registry behind an address. */
  readonly key?: string | undefined;
  readonly signal?: AbortSignal;
  /** A registry is allowed by its exact origin; where it redirects is judged like any other address. */
  readonly egress?: EgressByPurpose;
}

export async function openRegistry(
  name: string,
  options: OpenRegistryOptions = {},
): Promise<CopyableRegistry> {
  const { cwd = '.', roots, mirrorOf, key, signal, egress = createEgressByPurpose() } = options;
  assertRegistry(name);
  const keys = { ...(roots && { roots }), ...(mirrorOf !== undefined && { mirrorOf }) };
  if (isRegistryAddress(name)) {
    const sent = { ...(signal && { signal }), ...(key && { key }) };
    return openHttpRegistry({ url: name, egress: egress.for('registry', [name]), ...sent, ...keys });
  }
  const folder = name.startsWith('file:') ? fileURLToPath(name) : path.resolve(cwd, name);
  return openFolderRegistry({ folder, ...keys });
}
