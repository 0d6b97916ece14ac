/** From the request for a connection to the code of the provider: the link, the consent of a person, the callback. */

import { CONNECTION_LIMITS } from '@gantry/protocol';
import { type Caller, type Change, openSecret, systemCaller } from '@gantry/resources';
import { calculatePKCECodeChallenge } from 'oauth4webapi';
import type { Parts } from '../parts.ts';
import {
  type Authorization,
  type AuthorizationRecord,
  authorizations,
  claim,
  consent,
  current,
  isOwnCookie,
  nameIn,
  newCookie,
  type Problem,
  sealedName,
} from './authorization.ts';
import type { ConsentView } from './pages.ts';
import { labelledScopes, type Providers } from './provider.ts';

const VERIFIER_BYTES = 32;
const COOKIE_BYTES = 24;

export interface AuthorizingOptions extends Pick<Parts, 'changes' | 'masterKey' | 'randomBytes'> {
  readonly providers: Providers;
}

/** The requested authorization. */
export type Wish = Omit<AuthorizationRecord, 'codeVerifier' | 'browser' | 'endsAt'>;

export interface ProblemFound {
  readonly problem: Problem;
}

const UNKNOWN: ProblemFound = { problem: 'unknown' };

export class Authorizing {
  readonly #options: AuthorizingOptions;

  constructor(options: AuthorizingOptions) {
    this.#options = options;
  }

  /** `link` is the last part of the URL that the person has to open. */
  begin(change: Change, wish: Wish): { readonly link: string; readonly endsAt: number } {
    const { masterKey, randomBytes } = this.#options;
    const endsAt = change.now + CONNECTION_LIMITS.authorizationMs;
    const codeVerifier = Buffer.from(randomBytes(VERIFIER_BYTES)).toString('base64url');
    const made = change.create(authorizations, { ...wish, codeVerifier, browser: null, endsAt });
    return { link: sealedName(masterKey, made, 'link'), endsAt };
  }

  /** The content of the page of a link; `id` names its cookie. */
  async asked(link: string): Promise<{ readonly id: string; readonly view: ConsentView } | ProblemFound> {
    const found = await this.#inChange(
      link,
      'link',
      async (change, id) => (await current(change, id)) ?? 'unknown',
    );
    if ('problem' in found) return found;
    const { tenant, id, record } = found;
    const { described, oauth } = await this.#options.providers.resolve(tenant, record.provider);
    const { workspace, principal, scope, access } = record;
    const signsInAt = new URL(oauth.endpoints.authorize).origin;
    return {
      id,
      view: {
        tenant,
        workspace,
        principal,
        scope,
        provider: { id: oauth.id, displayName: oauth.displayName, signsInAt },
        writes: access === 'write',
        scopes: labelledScopes(described, record.scopes),
      },
    };
  }

  /** The cookie of the browser that opens the page of a link: the one that it has, if this host made it. */
  cookieFor(id: string, kept: string | undefined): string {
    const { masterKey, randomBytes } = this.#options;
    return kept !== undefined && isOwnCookie(masterKey, id, kept)
      ? kept
      : newCookie(masterKey, id, Buffer.from(randomBytes(COOKIE_BYTES)).toString('base64url'));
  }

  /** The URL that the browser opens next. */
  async consented(
    link: string,
    cookieOf: (id: string) => string | undefined,
  ): Promise<{ readonly displayName: string; readonly url: string } | ProblemFound> {
    const { masterKey, providers } = this.#options;
    const found = await this.#inChange(link, 'link', async (change, id) => {
      const cookie = cookieOf(id);
      const isOwn = cookie !== undefined && isOwnCookie(masterKey, id, cookie);
      return isOwn ? consent(change, id, cookie) : 'other-browser';
    });
    if ('problem' in found) return found;
    const { oauth } = await providers.resolve(found.tenant, found.record.provider);
    const { scopes, redirectUri } = found.record;
    const url = new URL(oauth.endpoints.authorize);
    const parameters = {
      response_type: 'code',
      client_id: oauth.client.clientId,
      redirect_uri: redirectUri,
      ...(scopes.length > 0 && { scope: scopes.join(' ') }),
      state: sealedName(masterKey, found, 'state'),
      code_challenge: await calculatePKCECodeChallenge(this.verifierOf(found)),
      code_challenge_method: 'S256',
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return { displayName: oauth.displayName, url: url.href };
  }

  /** The authorization of a callback. This deletes it. */
  claimed(
    state: string,
    provider: string,
    cookieOf: (id: string) => string | undefined,
  ): Promise<Authorization | ProblemFound> {
    return this.#inChange(state, 'state', (change, id) =>
      claim(change, id, { provider, cookie: cookieOf(id) }),
    );
  }

  verifierOf(authorization: Authorization): string {
    const verifier = openSecret(this.#options.masterKey, authorization, 'codeVerifier');
    if (verifier === null) throw new Error('the verifier of an authorization was sealed with another key');
    return verifier;
  }

  async #inChange(
    sealed: string,
    purpose: 'link' | 'state',
    work: (change: Change, id: string) => Promise<Authorization | Problem>,
  ): Promise<Authorization | ProblemFound> {
    const { masterKey, changes } = this.#options;
    const name = nameIn(masterKey, sealed, purpose);
    if (!name) return UNKNOWN;
    const caller: Caller = systemCaller('authorization', name);
    const found = await changes.run(caller, (change) => work(change, name.id));
    return typeof found === 'string' ? { problem: found } : found;
  }
}
