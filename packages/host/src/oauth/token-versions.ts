/** Tokens as versions of a credential. The writes are part of a change of the caller. */
import type { Change } from '@gantry/resources';
import {
  type CredentialRecord,
  type CredentialVersion,
  contextOf,
  credentials,
  refreshContext,
  type StoredCredential,
  withVersion,
} from '../credentials/credential.ts';
import type { MasterKey } from '../master-key.ts';
import type { ConnectionRecord } from './connection.ts';
import type { Tokens } from './token-client.ts';

/** A token is renewed when this share of its lifetime is left, or one minute if that is less. */
const LATE_SHARE = 0.2;
const LATE_MS_MAX = 60_000;

type Sealing = Pick<MasterKey, 'seal' | 'open'>;

/** Stores the tokens that a person or a client received; they replace all earlier ones. */
export async function putTokens(
  change: Change,
  masterKey: Sealing,
  {
    id,
    connection,
    apiHosts,
    tokens,
  }: {
    readonly id: string;
    readonly connection: ConnectionRecord;
    readonly apiHosts: readonly string[];
    readonly tokens: Tokens;
  },
): Promise<void> {
  const of = { tenant: change.caller.tenant, id };
  const before = await change.find(credentials, id);
  const number = before ? before.record.versions[0]!.version + 1 : 1;
  const version = versionOf(masterKey, of, number, tokens, change.now);
  const facts: Omit<CredentialRecord, 'versions'> = {
    kind: 'oauth2',
    provider: connection.provider,
    scope: connection.scope,
    owner: { workspace: connection.workspace, principal: connection.principal },
    audiences: apiHosts.flatMap((host) => (host.includes('.') ? [host, `*.${host}`] : [host])),
    grantedScopes: connection.scopes,
    header: 'authorization',
    prefix: 'Bearer ',
    sharedWith: before?.record.sharedWith ?? [],
  };
  const revealed = before?.record.revealedAt;
  const first = { ...version, version: number, createdAt: change.now };
  const record = { ...facts, ...(revealed !== undefined && { revealedAt: revealed }), versions: [first] };
  await change.put(credentials, record, id);
}

/** A refresh token that the provider did not replace is kept. */
export function renewTokens(
  change: Change,
  masterKey: Sealing,
  credential: StoredCredential,
  tokens: Tokens,
): StoredCredential {
  const [current] = credential.record.versions;
  const refreshToken = tokens.refreshToken ?? refreshTokenOf(masterKey, credential);
  const kept = { ...tokens, ...(refreshToken !== null && { refreshToken }) };
  const added = versionOf(masterKey, credential, current!.version + 1, kept, change.now);
  const record = withVersion(credential.record, added, { now: change.now, overlapMs: 0 });
  return change.replace(credential, record);
}

function versionOf(
  masterKey: Sealing,
  of: Pick<StoredCredential, 'tenant' | 'id'>,
  version: number,
  { accessToken, refreshToken, lifetimeMs }: Tokens,
  now: number,
): Omit<CredentialVersion, 'version' | 'createdAt'> {
  return {
    material: { sealed: masterKey.seal(accessToken, contextOf(of, version)) },
    ...(refreshToken !== undefined && {
      refreshSealed: masterKey.seal(refreshToken, refreshContext(of, version)),
    }),
    ...(lifetimeMs !== undefined && { expiresAt: now + lifetimeMs }),
  };
}

/** Null if the provider sent none. */
export function refreshTokenOf(masterKey: Sealing, credential: StoredCredential): string | null {
  const [{ version, refreshSealed } = { version: 0, refreshSealed: undefined }] = credential.record.versions;
  return refreshSealed === undefined
    ? null
    : masterKey.open(refreshSealed, refreshContext(credential, version));
}

/** Whether the token must be renewed. */
export function isLate({ createdAt, expiresAt }: CredentialVersion, now: number): boolean {
  if (expiresAt === undefined) return false;
  return now >= expiresAt - Math.min(LATE_MS_MAX, (expiresAt - createdAt) * LATE_SHARE);
}
