/** Operations on connections: begin, finish, read and end them. */

import {
  type Connecting,
  type Connection as ConnectionView,
  type ConnectRequest,
  type connectionsWire,
  DEFAULT_WORKSPACE,
  invalid,
  OpenwopError,
} from '@gantry/protocol';
import {
  type Caller,
  type Change,
  type Matching,
  mustMatch,
  ResourceService,
  readRecord,
  systemCaller,
} from '@gantry/resources';
import type { EntryReads } from '@gantry/store';
import { credentials } from '../credentials/credential.ts';
import { scopesOf } from '../packs/connections/provider.ts';
import type { Parts } from '../parts.ts';
import type { Authorization } from './authorization.ts';
import type { Authorizing, ProblemFound } from './authorizing.ts';
import { judgeCallback } from './callback.ts';
import { type Connection, type ConnectionRecord, connectionId, connections, viewOf } from './connection.ts';
import type { Providers, Resolved } from './provider.ts';
import { dropRenewal } from './renewal.ts';
import type { TokenAnswer, TokenClient, Tokens } from './token-client.ts';
import { putTokens, refreshTokenOf } from './token-versions.ts';

export interface ConnectionServiceOptions extends Pick<Parts, 'changes' | 'masterKey' | 'now'> {
  readonly entries: EntryReads;
  readonly providers: Providers;
  readonly authorizing: Authorizing;
  readonly clientFor: (tenant: string) => TokenClient;
  readonly redirectUri: (provider: string) => string;
  readonly linkUrl: (link: string) => string;
}

type Wished = Omit<ConnectionRecord, 'state' | 'authorizedAt' | 'isTold'>;

type Services = Pick<ConnectionServiceOptions, 'entries'>;

/** The result of a callback. */
export type Finished =
  | { readonly kind: 'connected'; readonly displayName: string; readonly connectionId: string }
  | { readonly kind: 'failed'; readonly message: string };

export class ConnectionService extends ResourceService<
  typeof connectionsWire,
  ConnectionRecord,
  undefined,
  Services
> {
  readonly #options: ConnectionServiceOptions;

  constructor(options: ConnectionServiceOptions) {
    super(connections, { ...options, services: options });
    this.#options = options;
  }

  /** Returns the URL of a page for a person, or the connection if the client itself is authorized. */
  async connect(caller: Caller, request: ConnectRequest): Promise<Connecting> {
    const { providers, changes, authorizing, redirectUri, linkUrl } = this.#options;
    const { provider } = request;
    const resolved = await providers.resolve(caller.tenant, provider);
    const wished = await this.#wishOf(caller, request, resolved);
    if (resolved.oauth.flow === 'client_credentials') return this.#connectClient(caller, resolved, wished);
    return changes.run(caller, async (change) => {
      const { grant: _, ...wish } = wished;
      const { link, endsAt } = authorizing.begin(change, { ...wish, redirectUri: redirectUri(provider) });
      return { provider, authorizeUrl: linkUrl(link), expiresAt: new Date(endsAt).toISOString() };
    });
  }

  /** Handles a callback. The authorization is used up, also if this fails. */
  async finish(
    provider: string,
    parameters: URLSearchParams,
    cookieOf: (id: string) => string | undefined,
  ): Promise<Finished | ProblemFound> {
    const state = parameters.get('state') ?? '';
    const authorization = await this.#options.authorizing.claimed(state, provider, cookieOf);
    return 'problem' in authorization ? authorization : this.#exchange(authorization, parameters, state);
  }

  /** Deletes its tokens, and revokes them if the provider can be reached. */
  async disconnect(caller: Caller, id: string, matching: Matching = {}): Promise<ConnectionView> {
    const { changes } = this.#options;
    const revoke = await this.#revocation(caller.tenant, id);
    const view = await changes.run(caller, async (change) => {
      const connection = await change.get(connections, id);
      mustMatch(connection, matching);
      const credential = await change.find(credentials, id);
      change.delete(connection);
      await dropRenewal(change, id);
      if (credential) change.delete(credential);
      return viewOf(connection, credential?.record ?? null);
    });
    await revoke?.();
    return view;
  }

  async #wishOf(
    caller: Caller,
    { provider, access = 'read', scope = 'user' }: ConnectRequest,
    { described, oauth }: Resolved,
  ): Promise<Wished> {
    const { tenant, workspace, actor: principal } = caller;
    const holder = { provider, scope, workspace: workspace ?? DEFAULT_WORKSPACE, principal };
    const id = connectionId(holder);
    if (access === 'write' && !(await readRecord(this.#options.entries, connections, tenant, id)))
      throw invalid(
        `Write access is asked for separately. Connect ${provider} for reading first, then ask for write access.`,
      );
    const scopes = scopesOf(described, access === 'write' ? ['read', 'write'] : ['read']);
    return { ...holder, grant: oauth.flow, access, scopes };
  }

  async #connectClient(caller: Caller, { oauth }: Resolved, wished: Wished): Promise<Connecting> {
    const { changes, clientFor } = this.#options;
    const answer = await clientFor(caller.tenant).clientCredentials(oauth, wished.scopes);
    if (answer.kind !== 'tokens')
      throw new OpenwopError('connector_unavailable', { message: failureOf(oauth.displayName, answer) });
    return changes.run(caller, async (change) => {
      const { id, createdAt, record } = await this.#store(change, wished, oauth.apiHosts, answer.tokens);
      const credential = await change.get(credentials, id);
      return { provider: oauth.id, connection: viewOf({ id, createdAt, record }, credential.record) };
    });
  }

  async #exchange(
    authorization: Authorization,
    parameters: URLSearchParams,
    state: string,
  ): Promise<Finished> {
    const { changes, clientFor, providers, authorizing } = this.#options;
    const { tenant, record } = authorization;
    const { provider, workspace, principal, scope, access, scopes, redirectUri } = record;
    const { oauth } = await providers.resolve(tenant, provider);
    const { displayName } = oauth;
    const judged = judgeCallback(oauth, parameters, state);
    if (judged.kind !== 'code')
      return {
        kind: 'failed',
        message: `${displayName} did not grant access${judged.kind === 'denied' ? ` (${judged.code})` : ': its answer does not match the request'}.`,
      };
    const codeVerifier = authorizing.verifierOf(authorization);
    const grant = { callback: judged.callback, redirectUri, codeVerifier };
    const answer = await clientFor(tenant).exchangeCode(oauth, grant);
    if (answer.kind !== 'tokens') return { kind: 'failed', message: failureOf(displayName, answer) };
    const wished: Wished = { provider, grant: oauth.flow, workspace, principal, scope, access, scopes };
    const caller: Caller = systemCaller(principal, { tenant });
    const { id } = await changes.run(caller, (change) =>
      this.#store(change, wished, oauth.apiHosts, answer.tokens),
    );
    return { kind: 'connected', displayName, connectionId: id };
  }

  /** Tokens and connection are one commit; a running renewal cannot overwrite them. */
  async #store(
    change: Change,
    { scopes: asked, ...wished }: Wished,
    apiHosts: readonly string[],
    tokens: Tokens,
  ): Promise<Connection> {
    const id = connectionId(wished);
    const { scopes = asked } = tokens;
    const state = { status: 'connected' } as const;
    const connection = { ...wished, scopes, state, authorizedAt: change.now, isTold: false };
    await dropRenewal(change, id);
    await putTokens(change, this.#options.masterKey, { id, connection, apiHosts, tokens });
    return change.put(connections, connection, id);
  }

  /** A function that revokes the current tokens of the connection. */
  async #revocation(tenant: string, id: string): Promise<(() => Promise<void>) | undefined> {
    const { entries, masterKey, providers, clientFor } = this.#options;
    const connection = await readRecord(entries, connections, tenant, id);
    const credential = await readRecord(entries, credentials, tenant, id);
    if (!connection || !credential) return undefined;
    const token = refreshTokenOf(masterKey, credential);
    const resolved = await providers.resolve(tenant, connection.record.provider).catch(() => undefined);
    return resolved && token !== null ? () => clientFor(tenant).revoke(resolved.oauth, token) : undefined;
  }
}

const failureOf = (displayName: string, answer: Exclude<TokenAnswer, { kind: 'tokens' }>): string =>
  answer.kind === 'refused'
    ? `${displayName} refused the request for a token (${answer.code}).`
    : `${displayName} sent no token. ${answer.problem}`;
