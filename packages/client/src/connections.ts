import type { Connection, connectionsWire, OAuthClient, oauthClientsWire } from '@gantry/protocol';
import { CONNECTIONS, OAUTH_CLIENTS } from '@gantry/protocol/tables';
import { api, type ResourceApi } from './api.ts';
import type { Transport } from './transport.ts';

type All = ResourceApi<typeof connectionsWire>;
type Clients = ResourceApi<typeof oauthClientsWire>;

/** Outside services that people connected by OAuth, and the clients of this host at their providers. */
export interface Connections extends Pick<All, 'get' | 'list'> {
  /** Answers the page that a person has to open, or the connection where none is needed. */
  connect: All['create'];
  /** Its tokens are deleted, and revoked at the provider where that can be done. */
  disconnect(connectionId: string): Promise<Connection>;
  clients(): Promise<OAuthClient[]>;
  /** What was configured before for the same provider is replaced. */
  configure: Clients['create'];
  unconfigure(provider: string): Promise<OAuthClient>;
}

export function createConnections(transport: Transport): Connections {
  const { get, list, create, remove } = api<typeof connectionsWire>(transport, CONNECTIONS);
  const clients = api<typeof oauthClientsWire>(transport, OAUTH_CLIENTS);
  return {
    get,
    list,
    connect: create,
    disconnect: remove,
    clients: async () => (await clients.list()).clients,
    configure: clients.create,
    unconfigure: clients.remove,
  };
}
