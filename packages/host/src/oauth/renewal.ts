/**
 * Renews tokens with one request at a time for each connection, across all processes. A provider that rotates
 * its tokens rejects one of two concurrent refreshes, and then revokes the tokens that it gave to the other.
 *
 * R1  Before the request a record with a nonce is committed; other renewals wait until it is deleted. After
 *     the request the new tokens are stored and the record is deleted in one commit, if it still has that
 *     nonce.
 * R2  A process that dies in between leaves the record. After its time the next process tries with the token
 *     that it finds. If the provider has already replaced that token, the person is asked to authorize again.
 * R3  Only `invalid_grant` ends a connection. Any other failure leaves it as it is, and the caller may try
 *     again.
 */

import { OpenwopError } from '@gantry/protocol';
import type { Caller, Change, RecordKind } from '@gantry/resources';
import { systemCaller } from '@gantry/resources';
import type { CommitGroup, StoreChange } from '@gantry/store';
import { credentials, newest, type StoredCredential } from '../credentials/credential.ts';
import type { Parts } from '../parts.ts';
import { systemClock } from '../runtime/clock.ts';
import { type Connection, connections, reconnectText } from './connection.ts';
import type { Providers } from './provider.ts';
import type { TokenAnswer, TokenClient } from './token-client.ts';
import { isLate, refreshTokenOf, renewTokens } from './token-versions.ts';

interface RenewalRecord {
  readonly nonce: string;
  readonly until: number;
}

export const renewals: RecordKind<RenewalRecord> = {
  kind: 'oauth-refresh',
  idPrefix: 'oar',
  expiresAt: ({ until }) => until + HELD_MS,
};

/** Prevents a running renewal from storing its tokens. */
export async function dropRenewal(change: Change, id: string): Promise<void> {
  const held = await change.find(renewals, id);
  if (held) change.delete(held);
}

/** Longer than the maximum time of the request. */
const HELD_MS = 30_000;
const NONCE_BYTES = 16;

export interface RenewalOptions
  extends Pick<Parts, 'changes' | 'masterKey' | 'clock' | 'now' | 'randomBytes'> {
  readonly providers: Pick<Providers, 'resolve'>;
  readonly clientFor: (tenant: string) => TokenClient;
}

type Settled =
  | { readonly kind: 'renewed'; readonly credential: StoredCredential }
  | { readonly kind: 'expired' | 'unavailable'; readonly error: OpenwopError };

type Begun =
  | { readonly kind: 'renewed'; readonly credential: StoredCredential }
  | { readonly kind: 'expired'; readonly error: OpenwopError }
  | { readonly kind: 'wait'; readonly until: number }
  | {
      readonly kind: 'ask';
      readonly nonce: string;
      readonly credential: StoredCredential;
      readonly connection: Connection;
    };

interface Asked {
  readonly tenant: string;
  readonly id: string;
  /** The version of the credential to be replaced. */
  readonly version: number;
}

export class Renewal {
  readonly #options: RenewalOptions;
  /** Running renewals of this process, by the version that they replace. */
  readonly #underWay = new Map<string, Promise<StoredCredential>>();
  readonly #waiting = new Set<() => void>();
  #wakes = 0;

  constructor(options: RenewalOptions) {
    this.#options = options;
  }

  /** The credential with a token that is valid for some time. */
  async fresh(credential: StoredCredential): Promise<StoredCredential> {
    return isLate(newest(credential.record), this.#options.now()) ? this.renewed(credential) : credential;
  }

  /** The credential with a new token, in place of this one, which was rejected or is about to expire. */
  renewed({ tenant, id, record }: StoredCredential): Promise<StoredCredential> {
    const { version } = newest(record);
    const key = JSON.stringify([tenant, id, version]);
    const known = this.#underWay.get(key);
    if (known) return known;
    const renewing = this.#renew({ tenant, id, version }).finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, renewing);
    return renewing;
  }

  /** A commit of this process may end a wait. */
  committed(group: CommitGroup): void {
    if (group.some((write) => write.kind === 'deleteEntry' && write.key.kind === renewals.kind)) this.#wake();
  }

  /** A commit of another process may end a wait. */
  changed({ kinds, missed }: StoreChange): void {
    if (missed || kinds.includes(renewals.kind)) this.#wake();
  }

  #wake(): void {
    this.#wakes += 1;
    for (const wake of this.#waiting) wake();
  }

  async #renew(asked: Asked): Promise<StoredCredential> {
    for (;;) {
      // Read before the record, so that a commit in between ends the wait
      const wakes = this.#wakes;
      const begun = await this.#run(asked, (change) => this.#begin(change, asked));
      switch (begun.kind) {
        case 'renewed':
          return begun.credential;
        case 'expired':
          throw begun.error;
        case 'wait':
          await this.#wakeOrTime(wakes, begun.until);
          break;
        case 'ask': {
          const answer = await this.#ask(begun.connection, begun.credential);
          const settled = await this.#run(asked, (change) =>
            this.#settle(change, asked.id, begun.nonce, answer),
          );
          if (settled?.kind === 'renewed') return settled.credential;
          if (settled) throw settled.error;
        }
      }
    }
  }

  async #wakeOrTime(wakes: number, until: number): Promise<void> {
    if (wakes !== this.#wakes) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const { clock = systemClock, now } = this.#options;
    const cancel = clock.after(Math.max(0, until - now()) + 1, resolve);
    this.#waiting.add(resolve);
    await promise;
    cancel();
    this.#waiting.delete(resolve);
  }

  #run<T>({ tenant, id }: Asked, work: (change: Change) => Promise<T>): Promise<T> {
    const caller: Caller = systemCaller(`connection ${id}`, { tenant });
    return this.#options.changes.run(caller, work);
  }

  async #begin(change: Change, { id, version }: Asked): Promise<Begun> {
    const credential = await change.get(credentials, id);
    if (newest(credential.record).version !== version) return { kind: 'renewed', credential };
    const connection = await change.find(connections, id);
    // This token was stored by hand: it cannot be renewed
    if (!connection) return { kind: 'renewed', credential };
    const { state } = connection.record;
    if (state.status === 'expired') return { kind: 'expired', error: expired(connection, state.reason) };
    const held = await change.find(renewals, id);
    if (held && held.record.until > change.now) return { kind: 'wait', until: held.record.until };
    const nonce = Buffer.from(this.#options.randomBytes(NONCE_BYTES)).toString('base64url');
    await change.put(renewals, { nonce, until: change.now + HELD_MS }, id);
    return { kind: 'ask', nonce, credential, connection };
  }

  async #ask({ tenant, record }: Connection, credential: StoredCredential): Promise<TokenAnswer> {
    const { providers, clientFor, masterKey } = this.#options;
    const refreshToken = refreshTokenOf(masterKey, credential);
    if (refreshToken === null && record.grant !== 'client_credentials')
      return { kind: 'refused', code: 'invalid_grant' };
    try {
      const { oauth } = await providers.resolve(tenant, record.provider);
      const client = clientFor(tenant);
      return await (refreshToken === null
        ? client.clientCredentials(oauth, record.scopes)
        : client.refresh(oauth, refreshToken));
    } catch (error) {
      // The pack or the client of the provider was removed, and may be added again
      if (error instanceof OpenwopError) return { kind: 'unanswered', problem: error.message };
      throw error;
    }
  }

  /** R1. Null if the record is no longer ours: another process took over, so the result is read again. */
  async #settle(change: Change, id: string, nonce: string, answer: TokenAnswer): Promise<Settled | null> {
    const held = await change.find(renewals, id);
    if (held?.record.nonce !== nonce) return null;
    change.delete(held);
    const connection = await change.get(connections, id);
    const credential = await change.get(credentials, id);
    if (answer.kind === 'tokens') {
      const { tokens } = answer;
      return {
        kind: 'renewed',
        credential: renewTokens(change, this.#options.masterKey, credential, tokens),
      };
    }
    if (answer.kind === 'unanswered')
      return { kind: 'unavailable', error: unavailable(connection, answer.problem) };
    if (answer.code !== 'invalid_grant')
      return { kind: 'unavailable', error: unavailable(connection, clientProblem(connection, answer.code)) };
    const reason = 'The provider no longer accepts its refresh token.';
    change.update(connection, { state: { status: 'expired', reason } });
    return { kind: 'expired', error: expired(connection, reason) };
  }
}

const factsOf = ({ id, record: { provider } }: Connection) => ({ provider, credentialRef: id });

export function expired(connection: Connection, reason: string): OpenwopError {
  const { provider } = connection.record;
  return new OpenwopError('connector_auth_expired', {
    message: `The connection to ${provider} has to be authorized again. ${reason} Type: ${reconnectText(connection.record)}`,
    details: { ...factsOf(connection), reason },
  });
}

const unavailable = (connection: Connection, problem: string): OpenwopError =>
  new OpenwopError('connector_unavailable', {
    message: `No new token for the connection to ${connection.record.provider}. ${problem} The connection is kept.`,
    details: factsOf(connection),
  });

const clientProblem = ({ record: { provider } }: Connection, code: string): string =>
  `The provider refuses the client of this host (${code}). The operator has to run: gantry connections configure ${provider}`;
