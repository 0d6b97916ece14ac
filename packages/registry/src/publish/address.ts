/** Checks of the name and version in an address, before the body is read. */
import { OpenwopError } from '@gantry/protocol';
import semver from 'semver';
import type { VersionAddress } from '../catalogue/store-catalogue.ts';

const NAME = /^[a-z][a-z0-9_-]*\.[a-z][a-z0-9_-]*(\.[a-z][a-zA-Z0-9_-]*)+$/;
const NAME_LENGTH_MAX = 256;
const VERSION_LENGTH_MAX = 128;

export const PUBLIC_SCOPES = ['core', 'vendor', 'community'] as const;
/** Accepted if the settings allow it. Names of the scope `local` stay on one machine, so no registry accepts them. */
export const PRIVATE_SCOPE = 'private';

/** For names and namespaces. All others are only shown to those that may publish them. */
export const isPublicName = (name: string): boolean =>
  PUBLIC_SCOPES.some((scope) => name.startsWith(`${scope}.`));

export function checkName(name: string): void {
  if (name.length <= NAME_LENGTH_MAX && NAME.test(name)) return;
  throw new OpenwopError('invalid_pack_name', { details: { name: name.slice(0, NAME_LENGTH_MAX) } });
}

/** Canonical semver only: not `v1.0.0` or `01.0.0`. */
export function checkVersion(version: string): void {
  const build = version.indexOf('+');
  const plain = build === -1 ? version : version.slice(0, build);
  if (version.length <= VERSION_LENGTH_MAX && semver.valid(version) === plain) return;
  throw new OpenwopError('invalid_version', { details: { version: version.slice(0, VERSION_LENGTH_MAX) } });
}

/** Whether this address may be published: name, accepted scope, version. */
export function checkAddress({ name, version }: VersionAddress, scopes: readonly string[]): void {
  checkName(name);
  checkScope(name, scopes);
  checkVersion(version);
}

/** For a name or namespace. */
export function checkScope(name: string, scopes: readonly string[]): void {
  const scope = name.slice(0, name.indexOf('.'));
  if (scopes.includes(scope)) return;
  const next = scope === PRIVATE_SCOPE ? ` ${PRIVATE_NEXT}` : '';
  throw new OpenwopError('invalid_pack_scope', {
    message: `Packs named ${scope}.* cannot be published here. This registry accepts ${scopes.join(', ')}.${next}`,
    details: { scope, accepted: [...scopes] },
  });
}

const PRIVATE_NEXT =
  'Private packs need a registry of their own, started with `gantry registry start` and GANTRY_REGISTRY_PRIVATE=1; a registry inside a host does not keep them.';
