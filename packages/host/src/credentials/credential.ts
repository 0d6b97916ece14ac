/**
 * The record of a credential, and functions on it. Pure.
 *
 * C1  A value is in the record only as sealed text, which can be opened only for its tenant, ref and version.
 * C2  Sharing adds a reader to the one record; nothing is copied.
 * C3  A replaced value can be used until its time is over, as `ref@version`; the bare ref is the newest
 *     value.
 */
import type { CredentialProvenance } from '@gantry/egress';
import {
  CREDENTIAL_LIMITS,
  type Credential,
  type CredentialKind,
  type CredentialScope,
  DEFAULT_WORKSPACE,
  isoTime,
  type Owner,
} from '@gantry/protocol';
import type { RecordKind, Stored } from '@gantry/resources';

export interface Source {
  readonly store: 'env' | 'files';
  readonly name: string;
}

export interface CredentialVersion {
  readonly version: number;
  readonly createdAt: number;
  /** C3. */
  readonly until?: number;
  readonly expiresAt?: number;
  /** C1. */
  readonly material: { readonly sealed: string } | Source;
  /** The refresh token of an OAuth grant: never leaves the host. */
  readonly refreshSealed?: string;
  /** Too short to be recognized in text. */
  readonly isShort?: true;
}

export interface Share {
  readonly workspace: string;
  /** Null for all principals of the workspace. */
  readonly principal: string | null;
}

export interface CredentialRecord {
  readonly kind: CredentialKind;
  readonly provider?: string;
  readonly scope: CredentialScope;
  readonly owner: Omit<Owner, 'tenant'>;
  readonly runId?: string;
  readonly audiences: readonly string[];
  /** The permissions that the issuer granted. */
  readonly grantedScopes?: readonly string[];
  readonly header: string;
  readonly prefix: string;
  /** Newest first; never empty. */
  readonly versions: readonly CredentialVersion[];
  readonly sharedWith: readonly Share[];
  readonly revokedAt?: number;
  /** The first time that pack code read a value. */
  readonly revealedAt?: number;
}

export type StoredCredential = Stored<CredentialRecord>;

export const credentials: RecordKind<CredentialRecord> = {
  kind: 'credential',
  idPrefix: 'cred',
  missing: 'credential_not_found',
  index: {
    reader: (record) => [readerOf(record), ...record.sharedWith.map(shareReader)],
    run: ({ runId }) => runId ?? null,
    /** By the reader of its scope, or by its run. */
    provider: ({ provider, scope, owner, runId }) =>
      provider === undefined ? null : JSON.stringify([runId ?? scopeReader(scope, owner), provider]),
    revealed: ({ revealedAt }) => (revealedAt === undefined ? null : 'yes'),
  },
  endsWithRun: ({ runId }) => runId ?? null,
  max: CREDENTIAL_LIMITS.perTenantMax,
  /** Credentials of a run end with it, so they do not count. */
  counts: ({ scope }) => scope !== 'run',
  reseal: ({ versions }, of, again) => ({
    versions: versions.map(({ material, refreshSealed, ...rest }) => ({
      ...rest,
      material:
        'sealed' in material ? { sealed: again(material.sealed, contextOf(of, rest.version)) } : material,
      ...(refreshSealed !== undefined && {
        refreshSealed: again(refreshSealed, refreshContext(of, rest.version)),
      }),
    })),
  }),
};

const userReader = (workspace: string, principal: string | null): string =>
  JSON.stringify([workspace, principal]);
const workspaceReader = (workspace: string): string => JSON.stringify([workspace]);
const TENANT_READER = '[]';

export function scopeReader(
  scope: CredentialScope,
  { workspace, principal }: Pick<Owner, 'workspace' | 'principal'>,
): string {
  if (scope === 'tenant') return TENANT_READER;
  return scope === 'workspace' ? workspaceReader(workspace) : userReader(workspace, principal);
}

const readerOf = ({ scope, owner }: CredentialRecord): string => scopeReader(scope, owner);

const shareReader = ({ workspace, principal }: Share): string =>
  principal === null ? workspaceReader(workspace) : userReader(workspace, principal);

/** The values of the index `reader` that this owner sees. */
export const readersOf = ({ workspace, principal }: Owner): string[] => [
  TENANT_READER,
  workspaceReader(workspace),
  ...(principal === null ? [] : [userReader(workspace, principal)]),
];

/**
 * `use` is the access by sharing. A credential of a run is managed by its principal, and used by the run and its
 * descendants. `line` is the run that asks, and its ancestors.
 */
export function accessOf(
  owner: Owner,
  record: CredentialRecord,
  line?: readonly string[],
): 'manage' | 'use' | null {
  const readers = readersOf(owner);
  const isOwn = readers.includes(readerOf(record));
  if (record.scope === 'run' && line) return line.includes(record.runId ?? '') && isOwn ? 'use' : null;
  if (isOwn) return 'manage';
  return record.sharedWith.some((share) => readers.includes(shareReader(share))) ? 'use' : null;
}

export const contextOf = ({ tenant, id }: Pick<StoredCredential, 'tenant' | 'id'>, version: number): string =>
  `credential/${tenant}/${id}/${version}`;

export const refreshContext = (of: Pick<StoredCredential, 'tenant' | 'id'>, version: number): string =>
  `${contextOf(of, version)}/refresh`;

/** `stripe@2` is version 2 of `stripe`. */
export function parseRef(text: string): { readonly ref: string; readonly version: number | undefined } {
  const [, ref = text, version] = /^(.*)@([1-9]\d{0,8})$/.exec(text) ?? [];
  return { ref, version: version === undefined ? undefined : Number(version) };
}

export const isLive = ({ until = Number.POSITIVE_INFINITY }: CredentialVersion, now: number): boolean =>
  now < until;

export const newest = ({ versions }: CredentialRecord): CredentialVersion => versions[0]!;

/** Undefined if it does not exist or its time is over. */
export function versionOf(
  record: CredentialRecord,
  version: number | undefined,
  now: number,
): CredentialVersion | undefined {
  if (record.revokedAt !== undefined) return undefined;
  const found =
    version === undefined ? newest(record) : record.versions.find((each) => each.version === version);
  return found && isLive(found, now) ? found : undefined;
}

export interface Rotation {
  readonly now: number;
  readonly overlapMs: number;
}

/** C3. Values that pack code received are redacted for longer: see `given-secrets.ts`. */
export function withVersion(
  record: CredentialRecord,
  added: Omit<CredentialVersion, 'version' | 'createdAt'>,
  { now, overlapMs }: Rotation,
): CredentialRecord {
  const [current, ...older] = record.versions;
  const ending = {
    ...current!,
    until: Math.min(current!.until ?? Number.POSITIVE_INFINITY, now + overlapMs),
  };
  const version = { ...added, version: current!.version + 1, createdAt: now };
  const live = [ending, ...older].filter((each) => isLive(each, now));
  return { ...record, versions: [version, ...live] };
}

/** The password of `basic` may appear without the user name. */
export const secretParts = (kind: CredentialKind, value: string): readonly [string, ...string[]] => {
  const colon = value.indexOf(':');
  return kind === 'basic' && colon >= 0 ? [value, value.slice(colon + 1)] : [value];
};

export function provenanceOf(
  { id, record }: StoredCredential,
  { expiresAt }: CredentialVersion,
): CredentialProvenance {
  return {
    credentialId: id,
    issuer: record.provider ?? 'host',
    audiences: record.audiences,
    ...(record.grantedScopes && { scopes: record.grantedScopes }),
    ...(expiresAt !== undefined && { expiresAt: isoTime(expiresAt) }),
    redactionPolicy: 'always',
  };
}

const NO_AUDIENCE = 'It has no audience, so it cannot be sent anywhere. Add it again with its audiences.';
const SHORT = `Its value has fewer than ${CREDENTIAL_LIMITS.redactableMin} characters, so it cannot be redacted; pack code never gets it.`;

export function viewOf({ id, createdAt, record }: StoredCredential, now: number): Credential {
  const { kind, provider, scope, runId, audiences, header, sharedWith, revokedAt, revealedAt } = record;
  const { expiresAt, material, isShort } = newest(record);
  const isExpired = expiresAt !== undefined && expiresAt <= now;
  return {
    ref: id,
    kind,
    ...(provider !== undefined && { provider }),
    scope,
    ...(runId !== undefined && { runId }),
    audiences: [...audiences],
    header,
    state: revokedAt !== undefined ? 'revoked' : isExpired ? 'expired' : 'active',
    ...(expiresAt !== undefined && { expiresAt: isoTime(expiresAt) }),
    ...('store' in material && { source: { store: material.store, name: material.name } }),
    versions: record.versions
      .filter((each) => revokedAt === undefined && isLive(each, now))
      .map(({ version, createdAt: from, until }) => ({
        version,
        createdAt: isoTime(from),
        ...(until !== undefined && { until: isoTime(until) }),
      })),
    sharedWith: sharedWith.map(({ workspace, principal }) => ({
      workspace,
      ...(principal !== null && { principal }),
    })),
    givenToPackCode: revealedAt !== undefined,
    warnings: [...(audiences.length === 0 ? [NO_AUDIENCE] : []), ...(isShort ? [SHORT] : [])],
    createdAt: isoTime(createdAt),
  };
}

/** The target of a share: a workspace, or a principal in it or in the default workspace. */
export const shareOf = ({
  workspace = DEFAULT_WORKSPACE,
  principal,
}: Partial<Record<keyof Share, string>>): Share => ({
  workspace,
  principal: principal ?? null,
});
