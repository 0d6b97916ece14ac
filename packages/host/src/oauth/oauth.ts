/** OAuth of one process: clients, authorizations, connections, and the renewal of their tokens. */
import type { EgressByPurpose } from '@gantry/egress';
import type { Changes } from '@gantry/resources';
import type { CommitGroup, Store } from '@gantry/store';
import type { MasterKey } from '../master-key.ts';
import { Connections } from '../packs/connections/connections.ts';
import type { PackRecords } from '../packs/pack-records.ts';
import type { Redactions } from '../redaction/redactions.ts';
import { Authorizing } from './authorizing.ts';
import { ConnectionService } from './connection-service.ts';
import { OAuthClients } from './oauth-client.ts';
import { Providers } from './provider.ts';
import { Renewal } from './renewal.ts';
import { createTokenClient, type TokenClient } from './token-client.ts';

export interface OAuthOptions {
  readonly store: Pick<Store, 'entries' | 'watch'>;
  readonly changes: Changes;
  readonly masterKey: MasterKey;
  readonly records: PackRecords;
  readonly egress: EgressByPurpose;
  readonly redactions: Pick<Redactions, 'note'>;
  readonly publicUrl: () => string;
  readonly now: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  /** Instead of requests over egress. */
  readonly clientFor?: (tenant: string) => TokenClient;
}

export interface OAuth {
  readonly clients: OAuthClients;
  readonly providers: Providers;
  readonly authorizing: Authorizing;
  readonly connections: ConnectionService;
  readonly renewal: Renewal;
  /** Of a page of this host. */
  readonly urlOf: (path: string) => string;
  committed(group: CommitGroup): void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Below it are all pages of an authorization. */
export const AUTHORIZE = '/v1/host/gantry/authorize';

export function createOAuth(options: OAuthOptions): OAuth {
  const { store, publicUrl, records, egress, redactions, masterKey: sealer } = options;
  const { entries } = store;
  const urlOf = (path: string): string => `${publicUrl().replace(/\/$/, '')}${path}`;
  const redirectUri = (provider: string): string => urlOf(`${AUTHORIZE}/callback/${provider}`);
  const linkUrl = (link: string): string => urlOf(`${AUTHORIZE}/${link}`);
  const clientFor =
    options.clientFor ??
    ((tenant: string) =>
      createTokenClient({
        egress: egress.for('oauth'),
        tenant,
        note: (value, label) => redactions.note(tenant, value, label),
      }));
  const described = new Connections(records);
  const clients = new OAuthClients({ ...options, entries, sealer, connections: described, redirectUri });
  const providers = new Providers(described, clients);
  const authorizing = new Authorizing({ ...options, providers });
  const parts = { ...options, entries, providers, authorizing, clientFor, redirectUri, linkUrl };
  const renewal = new Renewal(parts);
  let unwatch: (() => Promise<void>) | undefined;
  return {
    clients,
    providers,
    authorizing,
    connections: new ConnectionService(parts),
    renewal,
    urlOf,
    committed: (group) => renewal.committed(group),
    async start() {
      unwatch = await store.watch((change) => renewal.changed(change));
    },
    stop: async () => unwatch?.(),
  };
}
