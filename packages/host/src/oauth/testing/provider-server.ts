/** A real OAuth provider on this machine: `oidc-provider`, with rotating refresh tokens. Everybody is Ada and consents. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { Provider } from 'oidc-provider';

export const CLIENT = { clientId: 'gantry', clientSecret: 'a-client-secret-for-tests' };

export interface ProviderServer {
  readonly origin: string;
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
  /** Requests to the token endpoint, by grant type. */
  readonly asked: Readonly<Record<string, number>>;
  /** How many it refused. */
  readonly refused: number;
  /** What the token endpoint answers from now on instead; undefined: what it should. */
  answerWith(answer: CannedAnswer | undefined): void;
}

export type CannedAnswer =
  | { readonly status: number; readonly type: string; readonly body: string }
  | 'nothing';

export interface ProviderOptions {
  readonly redirectUris: readonly string[];
  readonly tokenSeconds?: number;
}

export async function providerServer(
  t: Pick<TestContext, 'after'>,
  { redirectUris, tokenSeconds = 3_600 }: ProviderOptions,
): Promise<ProviderServer> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = oidc(origin, redirectUris, tokenSeconds);
  const handle = provider.callback();
  const asked: Record<string, number> = {};
  provider.on('grant.success', ({ oidc: { params } }) => {
    const grant = String(params?.grant_type);
    asked[grant] = (asked[grant] ?? 0) + 1;
  });
  let refused = 0;
  provider.on('grant.error', () => {
    refused++;
  });
  let canned: CannedAnswer | undefined;
  server.on('request', async (request, response) => {
    if (request.url === '/token' && canned !== undefined) {
      if (canned === 'nothing') return void request.socket.destroy();
      response.writeHead(canned.status, { 'content-type': canned.type }).end(canned.body);
    } else if (request.url?.startsWith('/interaction/')) {
      await provider.interactionFinished(request, response, { login: { accountId: 'ada' } });
    } else await handle(request, response);
  });
  return {
    origin,
    authorizeUrl: `${origin}/auth`,
    tokenUrl: `${origin}/token`,
    asked,
    get refused() {
      return refused;
    },
    answerWith: (answer) => {
      canned = answer;
    },
  };
}

function oidc(origin: string, redirectUris: readonly string[], tokenSeconds: number): Provider {
  return new Provider(origin, {
    clients: [
      {
        client_id: CLIENT.clientId,
        client_secret: CLIENT.clientSecret,
        redirect_uris: [...redirectUris],
        grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
      },
    ],
    scopes: ['entries.read', 'entries.write'],
    cookies: { keys: ['a-cookie-key-for-tests'] },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      revocation: { enabled: true },
    },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    ttl: { AccessToken: tokenSeconds, ClientCredentials: tokenSeconds, RefreshToken: 3_600 },
    rotateRefreshToken: true,
    issueRefreshToken: async () => true,
    findAccount: async (_context, sub) => ({ accountId: sub, claims: async () => ({ sub }) }),
    async loadExistingGrant({ oidc: { client, session, params, provider } }) {
      const grant = new provider.Grant({ clientId: client?.clientId, accountId: session?.accountId });
      grant.addOIDCScope(String(params?.scope ?? ''));
      await grant.save();
      return grant;
    },
  });
}
