/** Validates the parameters with which a browser returns from a provider. */
import { AuthorizationResponseError, validateAuthResponse } from 'oauth4webapi';
import type { OAuthProvider } from './provider.ts';
import { partiesOf } from './token-client.ts';

export type Callback =
  | { readonly kind: 'code'; readonly callback: URLSearchParams }
  /** `code` is defined in RFC 6749 §4.1.2.1. */
  | { readonly kind: 'denied'; readonly code: string }
  | { readonly kind: 'invalid' };

const DENIALS = [
  'invalid_request',
  'unauthorized_client',
  'access_denied',
  'unsupported_response_type',
  'invalid_scope',
  'server_error',
  'temporarily_unavailable',
];

/**
 * RFC 9207: a given `iss` must be the issuer of the provider. If the operator did not configure the issuer,
 * it must have the origin of the authorization page.
 */
export function judgeCallback(provider: OAuthProvider, parameters: URLSearchParams, state: string): Callback {
  const { server, client } = partiesOf(provider);
  const given = parameters.get('iss');
  const isOfOrigin =
    given !== null && URL.parse(given)?.origin === new URL(provider.endpoints.authorize).origin;
  const issuer = provider.issuer === undefined && isOfOrigin ? given : server.issuer;
  try {
    const callback = validateAuthResponse({ ...server, issuer }, client, parameters, state);
    const [code, ...more] = callback.getAll('code');
    return code && more.length === 0 ? { kind: 'code', callback } : { kind: 'invalid' };
  } catch (error) {
    if (!(error instanceof AuthorizationResponseError)) return { kind: 'invalid' };
    return { kind: 'denied', code: DENIALS.find((known) => known === error.error) ?? 'refused' };
  }
}
