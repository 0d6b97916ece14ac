/**
 * Authorized connections, as a resource. The tokens are versions of the credential whose ref is the connection's id.
 */
import { hash } from 'node:crypto';
import {
  CONNECTION_LIMITS,
  type Connection as ConnectionView,
  connectionsWire,
  isoTime,
} from '@gantry/protocol';
import { readRecord, resource, type Stored } from '@gantry/resources';
import type { EntryReads } from '@gantry/store';
import { type CredentialRecord, credentials, newest } from '../credentials/credential.ts';
import type { ScopeAccess } from '../packs/connections/provider.ts';
import type { Flow } from './provider.ts';

export interface ConnectionRecord {
  readonly provider: string;
  readonly grant: Flow;
  readonly scope: 'user' | 'workspace';
  readonly workspace: string;
  readonly principal: string;
  readonly access: ScopeAccess;
  readonly scopes: readonly string[];
  readonly state: ConnectionState;
  readonly authorizedAt: number;
  /** Whether the log of a run has `connector.authorized` of this authorization. */
  readonly isTold: boolean;
}

export type ConnectionState =
  | { readonly status: 'connected' }
  /** It must be authorized again. */
  | { readonly status: 'expired'; readonly reason: string };

export type Connection = Stored<ConnectionRecord>;

/** The holder and the provider. There is one connection for each, so the id is derived from them. */
export type Holder = Pick<ConnectionRecord, 'provider' | 'scope' | 'workspace' | 'principal'>;

const ID_LENGTH = 24;

export function connectionId({ provider, scope, workspace, principal }: Holder): string {
  const holder = scope === 'user' ? [provider, workspace, principal] : [provider, workspace];
  return `conn_${hash('sha256', JSON.stringify(holder), 'hex').slice(0, ID_LENGTH)}`;
}

interface Services {
  readonly entries: EntryReads;
}

export const connections = resource<typeof connectionsWire, ConnectionRecord, undefined, Services>(
  connectionsWire,
  {
    kind: 'connection',
    idPrefix: 'conn',
    max: CONNECTION_LIMITS.connectionsPerTenantMax,
    create: () => {
      throw new Error('connections are authorized, not created');
    },
    verbs: {},
    show: async (stored, { entries }) =>
      viewOf(stored, (await readRecord(entries, credentials, stored.tenant, stored.id))?.record ?? null),
  },
);

/** `credential` is null if it was removed separately. */
export function viewOf(
  { id, createdAt, record }: Pick<Connection, 'id' | 'createdAt' | 'record'>,
  credential: CredentialRecord | null,
): ConnectionView {
  const { state, isTold: _, authorizedAt, scopes, ...rest } = record;
  const version = credential && newest(credential);
  const reason = credential ? reasonOf(state) : 'Its credential was removed or revoked.';
  return {
    connectionId: id,
    ...rest,
    scopes: [...scopes],
    state: reason === undefined ? 'connected' : 'expired',
    ...(reason !== undefined && { reason, next: reconnectText(record) }),
    ...(version?.expiresAt !== undefined && { tokenExpiresAt: isoTime(version.expiresAt) }),
    refreshable: record.grant === 'client_credentials' || version?.refreshSealed !== undefined,
    authorizedAt: isoTime(authorizedAt),
    createdAt: isoTime(createdAt),
  };
}

const reasonOf = (state: ConnectionState): string | undefined =>
  state.status === 'expired' ? state.reason : undefined;

/** The command that reconnects. */
export const reconnectText = ({ provider, access, scope }: ConnectionRecord): string =>
  `gantry connections connect ${provider}${access === 'write' ? ' --write' : ''}${scope === 'workspace' ? ' --scope workspace' : ''}`;
