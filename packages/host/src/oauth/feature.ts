import { connectionsWire, oauthClientsWire } from '@gantry/protocol';
import { connectionRoutes } from '../api/connections.ts';
import { feature } from '../feature.ts';
import { authorizations } from './authorization.ts';
import { connections } from './connection.ts';
import { createOAuth, type OAuthOptions } from './oauth.ts';
import { oauthClients } from './oauth-client.ts';
import { renewals } from './renewal.ts';

export const oauthFeature = feature({
  name: 'oauth',
  kinds: [oauthClients, authorizations, connections, renewals],
  open: (parts: OAuthOptions) => createOAuth(parts),
  resources: ({ clients, connections: service }) => [
    [oauthClientsWire, clients],
    [connectionsWire, service],
  ],
  routes: (app, oauth, { idempotency }) => connectionRoutes(app, oauth, idempotency),
});
