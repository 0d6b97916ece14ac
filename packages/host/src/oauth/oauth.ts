/** OAuth of one process: clients, authorizations, connections, and the renewal of their tokens. */
import type { Egress, EgressByPurpose } from '@gantry/egress';
import { readRecord } from '@gantry/resources';
import type { CommitGroup, Store } from '@gantry/store';
import type { TokenRenewal } from '../credentials/credentials.ts';
import { packConnections } from '../packs/connections/connections.ts';
import { packs as installations } from '../packs/pack-record.ts';
import type { PackRecords } from '../packs/pack-records.ts';
import type { Parts } from '../parts.ts';
import type { ScopesOf } from '../principals.ts';
import type { Redactions } from '../redaction/redactions.ts';
import { advertisedProviders } from './advertised.ts';
import { Authorizing } from './authorizing.ts';
import { connections } from './connection.ts';
import { ConnectionService } from './connection-service.ts';
import { NodeConnections } from './node-connections.ts';
import { OAuthClients, oauthClients } from './oauth-client.ts';
import { oauthProviders } from './provider.ts';
import { Renewal } from './renewal.ts';
import { createTokenClient, type TokenClient } from './token-client.ts';

export interface OAuthOptions extends Pick<Parts, 'changes' | 'masterKey' | 'now' | 'randomBytes'> {
  readonly store: Pick<Store, 'entries' | 'watch'>;
  readonly packRecords: PackRecords;
  readonly egress: EgressByPurpose;
  readonly redactions: Pick<Redactions, 'note'>;
  readonly publicUrl: () => string;
  readonly scopesOf: ScopesOf;
}

/** The path prefix of all pages of an authorization. */
export const AUTHORIZE = '/v1/host/gantry/authorize';

export type OAuth = ReturnType<typeof createOAuth>;

export function createOAuth(options: OAuthOptions) {
  const { store, publicUrl, packRecords, egress, redactions, masterKey: sealer } = options;
  const { entries } = store;
  /** The URL of a page of this host. */
  const urlOf = (path: string): string => `${publicUrl().replace(/\/$/, '')}${path}`;
  const redirectUri = (provider: string): string => urlOf(`${AUTHORIZE}/callback/${provider}`);
  const linkUrl = (link: string): string => urlOf(`${AUTHORIZE}/${link}`);
  const clientOver =
    (way: Pick<Egress, 'stream'>) =>
    (tenant: string): TokenClient =>
      createTokenClient({
        egress: way,
        tenant,
        note: (value, label) => redactions.note(tenant, value, label),
      });
  const clientFor = clientOver(egress.for('oauth'));
  const described = packConnections(packRecords);
  const clients = new OAuthClients({ ...options, entries, sealer, connections: described, redirectUri });
  const providers = oauthProviders(described, clients);
  const authorizing = new Authorizing({ ...options, providers });
  const parts = { ...options, entries, providers, authorizing, clientFor, redirectUri, linkUrl };
  const renewal = new Renewal(parts);
  const tokens: TokenRenewal = {
    fresh: (stored) => renewal.fresh(stored),
    renewed: (stored) => renewal.renewed(stored),
    async apiHostsOf({ tenant, id }) {
      const connection = await readRecord(entries, connections, tenant, id);
      return connection && ((await described.provider(tenant, connection.record.provider)).apiHosts ?? []);
    },
  };
  let revision = 0;
  const noticed = (kinds: readonly string[]): void => {
    if (kinds.some((kind) => ADVERTISED_BY.includes(kind))) revision += 1;
  };
  packRecords.onChanged(() => noticed([installations.kind]));
  let unwatch: (() => Promise<void>) | undefined;
  return {
    clients,
    providers,
    authorizing,
    connections: new ConnectionService(parts),
    renewal,
    tokens,
    nodes: new NodeConnections({ ...parts, renewal }),
    /** The same with another transport to the token endpoints. */
    connectionsOver: (way: Pick<Egress, 'stream'>) =>
      new ConnectionService({ ...parts, clientFor: clientOver(way) }),
    /** For the discovery document; `revision` grows when the providers may have changed. */
    advertised: {
      get revision(): number {
        return revision;
      },
      list: () => advertisedProviders(packRecords, providers),
    },
    urlOf,
    committed(group: CommitGroup): void {
      renewal.committed(group);
      noticed(entryKinds(group));
    },
    async start(): Promise<void> {
      unwatch = await store.watch((change) => {
        renewal.changed(change);
        noticed(change.missed ? ADVERTISED_BY : change.kinds);
      });
    },
    stop: async (): Promise<void> => unwatch?.(),
  };
}

const ADVERTISED_BY: readonly string[] = [oauthClients.kind, installations.kind];

const entryKinds = (group: CommitGroup): string[] =>
  group.flatMap((write) =>
    write.kind === 'putEntry' ? [write.entry.kind] : write.kind === 'deleteEntry' ? [write.key.kind] : [],
  );
