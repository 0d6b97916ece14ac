/**
 * Requests to the token endpoint of a provider. It keeps no state; results are returned as values.
 *
 * T1  Only an error in the form of RFC 6749 counts as a refusal. A page, a 5xx, a broken or missing answer
 *     says nothing about the grant.
 * T2  No text of the provider is passed on: of its error only the code of RFC 6749 is kept.
 */
import { type Egress, EgressError, egressFetch } from '@gantry/egress';
import {
  type AuthorizationServer,
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  type Client,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  clientCredentialsGrantRequest,
  customFetch,
  None,
  processGenericTokenEndpointResponse,
  ResponseBodyError,
  refreshTokenGrantRequest,
  revocationRequest,
  type TokenEndpointResponse,
} from 'oauth4webapi';
import type { OAuthProvider } from './provider.ts';

const TIMEOUT_MS = 10_000;
const ANSWER_BYTES_MAX = 64 * 1024;
/** Longer tokens exceed the header limits of common servers. */
const TOKEN_CHARS_MAX = 8_192;
const SCOPES_MAX = 100;
const YEAR_SECONDS = 365 * 86_400;

export interface Tokens {
  readonly accessToken: string;
  /** Absent: the token that was sent stays valid, or there is none. */
  readonly refreshToken?: string;
  /** Absent when the provider does not say. */
  readonly lifetimeMs?: number;
  /** Absent: the requested scopes. */
  readonly scopes?: readonly string[];
}

export type TokenAnswer =
  | { readonly kind: 'tokens'; readonly tokens: Tokens }
  | { readonly kind: 'refused'; readonly code: RefusalCode }
  /** `problem` may be shown. */
  | { readonly kind: 'unanswered'; readonly problem: string };

/** RFC 6749 §5.2. */
const REFUSALS = [
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
] as const;
export type RefusalCode = (typeof REFUSALS)[number];

export interface CodeGrant {
  /** The parameters that `judgeCallback` accepted. */
  readonly callback: URLSearchParams;
  readonly redirectUri: string;
  readonly codeVerifier: string;
}

export interface TokenClient {
  exchangeCode(provider: OAuthProvider, grant: CodeGrant): Promise<TokenAnswer>;
  refresh(provider: OAuthProvider, refreshToken: string): Promise<TokenAnswer>;
  clientCredentials(provider: OAuthProvider, scopes: readonly string[]): Promise<TokenAnswer>;
  /** Best effort: if the provider is unreachable, the token is valid until it expires. */
  revoke(provider: OAuthProvider, token: string): Promise<void>;
}

export interface TokenClientOptions {
  readonly egress: Pick<Egress, 'stream'>;
  /** The tenant whose entries of `GANTRY_EGRESS_ALLOW` apply. */
  readonly tenant: string;
  /** Called with each secret before it is sent or used. */
  readonly note?: (value: string, label: string) => void;
}

export function createTokenClient({ egress, tenant, note = () => {} }: TokenClientOptions): TokenClient {
  const fetch = egressFetch(egress, { tenant, timeoutMs: TIMEOUT_MS, maxResponseBytes: ANSWER_BYTES_MAX });
  // Egress checks the scheme, with the exceptions of the operator
  const options = { [customFetch]: fetch, [allowInsecureRequests]: true };
  async function noted(
    provider: OAuthProvider,
    secrets: readonly string[],
    request: Request,
  ): Promise<TokenAnswer> {
    const { clientSecret = '' } = provider.client;
    for (const secret of [clientSecret, ...secrets]) note(secret, provider.id);
    const answer = await ask(provider, request);
    if (answer.kind === 'tokens')
      for (const token of [answer.tokens.accessToken, answer.tokens.refreshToken ?? ''])
        note(token, provider.id);
    return answer;
  }
  return {
    exchangeCode: (provider, { callback, redirectUri, codeVerifier }) =>
      noted(provider, [codeVerifier, callback.get('code') ?? ''], ({ server, client, auth }) =>
        authorizationCodeGrantRequest(server, client, auth, callback, redirectUri, codeVerifier, options),
      ),
    refresh: (provider, refreshToken) =>
      noted(provider, [refreshToken], ({ server, client, auth }) =>
        refreshTokenGrantRequest(server, client, auth, refreshToken, options),
      ),
    clientCredentials: (provider, scopes) =>
      noted(provider, [], ({ server, client, auth }) => {
        const parameters = scopes.length > 0 ? { scope: scopes.join(' ') } : {};
        return clientCredentialsGrantRequest(server, client, auth, parameters, options);
      }),
    async revoke(provider, token) {
      if (provider.endpoints.revoke === undefined) return;
      const { server, client, auth } = partiesOf(provider);
      await revocationRequest(server, client, auth, token, options).then(
        (response) => response.body?.cancel(),
        () => undefined,
      );
    },
  };
}

interface Parties {
  readonly server: AuthorizationServer;
  readonly client: Client;
  readonly auth: ClientAuth;
}

export function partiesOf({ client, endpoints, issuer }: OAuthProvider): Parties {
  const { clientId, clientSecret, authMethod } = client;
  const authBy = authMethod === 'post' ? ClientSecretPost : ClientSecretBasic;
  return {
    server: {
      issuer: issuer ?? new URL(endpoints.authorize).origin,
      token_endpoint: endpoints.token,
      ...(endpoints.revoke !== undefined && { revocation_endpoint: endpoints.revoke }),
    },
    client: { client_id: clientId },
    auth: clientSecret === undefined ? None() : authBy(clientSecret),
  };
}

type Request = (parties: Parties) => Promise<Response>;

async function ask(provider: OAuthProvider, request: Request): Promise<TokenAnswer> {
  const parties = partiesOf(provider);
  let status: number | undefined;
  try {
    const answer = await request(parties);
    status = answer.status;
    const plain = await plainAnswer(answer);
    return tokensOf(await processGenericTokenEndpointResponse(parties.server, parties.client, plain));
  } catch (error) {
    if (error instanceof EgressError) return unanswered(`could not be asked. ${error.message}`);
    const { error: code } = error instanceof ResponseBodyError ? error : { error: undefined };
    const refusal = REFUSALS.find((known) => known === code);
    if (refusal && status !== undefined && status < 500) return { kind: 'refused', code: refusal };
    const what =
      status === undefined || status === 200 ? 'did not send an OAuth answer' : `answered ${status}`;
    return unanswered(`${what}.`);
  }
}

/**
 * Reads the whole body, so that the connection can be reused. Drops the ID token: it is not used here, so it
 * need not be validated. Some providers send refusals with status 200.
 */
async function plainAnswer(response: Response): Promise<Response> {
  const text = await response.text();
  const headers = { 'content-type': response.headers.get('content-type') ?? '' };
  if (response.status !== 200) return new Response(text || null, { status: response.status, headers });
  const { id_token: _unread, ...body } = JSON.parse(text);
  const isRefusal = body.access_token === undefined && typeof body.error === 'string';
  return Response.json(body, { status: isRefusal ? 400 : 200 });
}

function tokensOf(answer: TokenEndpointResponse): TokenAnswer {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds, scope } = answer;
  const isUsable = [accessToken, refreshToken ?? 'none'].every(
    (token) => token.length <= TOKEN_CHARS_MAX && /^[\x21-\x7e]+$/.test(token),
  );
  if (!isUsable || answer.token_type !== 'bearer') return unanswered('sent a token that cannot be used.');
  return {
    kind: 'tokens',
    tokens: {
      accessToken,
      ...(refreshToken !== undefined && { refreshToken }),
      ...(seconds !== undefined && { lifetimeMs: Math.min(seconds, YEAR_SECONDS) * 1_000 }),
      ...(scope !== undefined && { scopes: scope.split(' ').filter(Boolean).slice(0, SCOPES_MAX) }),
    },
  };
}

const unanswered = (what: string): TokenAnswer => ({
  kind: 'unanswered',
  problem: `Its token endpoint ${what}`,
});
