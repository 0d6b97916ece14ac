/**
 * OAuth against a provider that does not exist. The host's own code does everything from the page to the
 * token request, which is answered here instead of over the network.
 */
import type { Egress } from '@gantry/egress';
import type { Api, Caller } from '@gantry/http';
import { invalid, type JsonObject } from '@gantry/protocol';
import { personCaller } from '@gantry/resources';
import { calculatePKCECodeChallenge } from 'oauth4webapi';
import Type, { type Static } from 'typebox';
import type { OAuth } from '../../oauth/oauth.ts';
import type { PackService } from '../../packs/pack-service.ts';
import { definition, node, seamId } from './definition.ts';
import type { Drive } from './drive.ts';
import { install } from './install.ts';
import { seam } from './seam.ts';

const Text = Type.String({ minLength: 1, maxLength: 2_048 });
const Roundtrip = Type.Object({
  provider: Type.String({ pattern: '^[a-z][a-z0-9-]{0,63}$' }),
  authUrl: Text,
  tokenUrl: Text,
  scopes: Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 50 }),
  authorizationCode: Text,
  accessTokenCanary: Text,
  refreshTokenCanary: Type.Optional(Text),
});
const Echo = Type.Object({ canary: Text });

export interface OAuthSeamDeps {
  readonly oauth: OAuth;
  readonly packs: { readonly service: Pick<PackService, 'install'> };
}

export function oauthSeams(app: Api, { oauth, packs }: OAuthSeamDeps, drive: Drive): void {
  /** Authorizes, then runs a node that uses the token and tries to leak it everywhere it can. */
  async function connected(caller: Caller, asked: Static<typeof Roundtrip>): Promise<object> {
    await install(packs.service, caller, providerManifest(asked));
    const credentialRef = await authorized(oauth, caller, asked);
    const code = { 'index.mjs': nodeCode(asked.provider) };
    await install(packs.service, caller, nodeManifest(asked), code);
    const work = definition(seamId(`oauth-${asked.provider}`), [node('call', typeIdOf(asked.provider))]);
    const key = await drive.start(caller, [work]);
    const { snapshot } = await drive.atRest(key);
    return { credentialRef, runId: key.runId, events: await drive.events(key), snapshot };
  }
  seam(app, 'oauth/authorize-code-roundtrip', Roundtrip, connected);
  seam(app, 'oauth/connector-echo', Echo, (caller, { canary }) =>
    connected(caller, { ...SYNTHETIC, accessTokenCanary: canary }),
  );
}

const SYNTHETIC = {
  provider: 'synthetic-echo',
  authUrl: 'https://oauth.synthetic.openwop.test/authorize',
  tokenUrl: 'https://oauth.synthetic.openwop.test/token',
  scopes: ['openwop.read'],
  authorizationCode: 'a-code-of-the-connector-echo-seam',
};

async function authorized(oauth: OAuth, caller: Caller, asked: Static<typeof Roundtrip>): Promise<string> {
  const { provider } = asked;
  const person = personCaller(caller);
  const clientSecret = crypto.randomUUID();
  await oauth.clients.configure(person, { provider, clientId: 'openwop-conformance', clientSecret });
  const challenged = { challenge: '' };
  const connections = oauth.connectionsOver(syntheticProvider(asked, challenged));
  const { authorizeUrl = '' } = await connections.connect(person, { provider });
  const link = authorizeUrl.slice(authorizeUrl.lastIndexOf('/') + 1);
  let cookie = '';
  const gone = await oauth.authorizing.consented(link, (id) => {
    cookie = oauth.authorizing.cookieFor(id, undefined);
    return cookie;
  });
  if ('problem' in gone) throw new Error(`the link was refused: ${gone.problem}`);
  const { searchParams } = new URL(gone.url);
  challenged.challenge = searchParams.get('code_challenge') ?? '';
  const state = searchParams.get('state') ?? '';
  const callback = new URLSearchParams({ code: asked.authorizationCode, state });
  const finished = await connections.finish(provider, callback, () => cookie);
  if ('problem' in finished) throw new Error(`the callback was refused: ${finished.problem}`);
  if (finished.kind === 'failed') throw invalid(finished.message);
  return finished.connectionId;
}

/** Answers as a provider must: it accepts the code once, from the client with the right challenge. */
function syntheticProvider(
  { tokenUrl, authorizationCode, accessTokenCanary, refreshTokenCanary, scopes }: Static<typeof Roundtrip>,
  challenged: { readonly challenge: string },
): Pick<Egress, 'stream'> {
  const answerTo = async (form: URLSearchParams): Promise<Response> => {
    const verifier = form.get('code_verifier') ?? '';
    const isGranted =
      form.get('grant_type') === 'authorization_code' &&
      form.get('code') === authorizationCode &&
      (await calculatePKCECodeChallenge(verifier)) === challenged.challenge;
    if (!isGranted) return Response.json({ error: 'invalid_grant' }, { status: 400 });
    return Response.json({
      access_token: accessTokenCanary,
      ...(refreshTokenCanary !== undefined && { refresh_token: refreshTokenCanary }),
      token_type: 'Bearer',
      expires_in: 3_600,
      scope: scopes.join(' '),
    });
  };
  return {
    async stream(url, { body = '' } = {}) {
      if (url !== tokenUrl) throw new Error(`${url} is not the token endpoint`);
      const answer = await answerTo(new URLSearchParams(Buffer.from(body).toString()));
      const content = answer.body ?? new ReadableStream();
      return {
        status: answer.status,
        headers: answer.headers,
        body: content,
        url,
        address: '',
        redirected: false,
      };
    },
  };
}

const packOf = (provider: string): string => `vendor.openwop-conformance.${provider}`;
const typeIdOf = (provider: string): string => `${packOf(provider)}-node.call`;

const identity = (name: string): JsonObject => ({
  name,
  version: '1.0.0',
  engines: { openwop: '>=1.0.0 <2.0.0' },
});

const providerManifest = ({ provider, authUrl, tokenUrl, scopes }: Static<typeof Roundtrip>): JsonObject => ({
  ...identity(packOf(provider)),
  kind: 'connection',
  provider: {
    id: provider,
    displayName: provider,
    category: 'other',
    auth: {
      kind: 'oauth2',
      authFlow: 'pkce',
      endpoints: { authorize: authUrl, token: tokenUrl },
      scopes: { read: [{ key: 'all', label: 'All', scopes: [...scopes] }] },
    },
    reach: { integration: { node: typeIdOf(provider) } },
    apiHosts: ['api.synthetic.openwop.test'],
  },
});

const nodeManifest = ({ provider, scopes }: Static<typeof Roundtrip>): JsonObject => ({
  ...identity(`${packOf(provider)}-node`),
  nodes: [
    {
      typeId: typeIdOf(provider),
      version: '1.0.0',
      category: 'integration',
      role: 'side-effect',
      auth: { type: 'oauth2', provider, scopes: [...scopes] },
    },
  ],
  runtime: { language: 'javascript', entry: './index.mjs', format: 'esm' },
});

/** A careless node: it copies its token to its log and outputs. */
const nodeCode = (provider: string): string => `export const nodes = {
  '${typeIdOf(provider)}': async (ctx) => {
    const { value } = ctx.credentials['${provider}'];
    ctx.log('info', 'signed in with ' + value);
    return { ref: ctx.secretRefs['${provider}'].ref, token: value, header: 'Bearer ' + value };
  },
};`;
