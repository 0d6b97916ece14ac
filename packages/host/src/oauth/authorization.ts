/**
 * Pending authorizations: from the link that a person opens to the callback of the provider.
 *
 * A1  The link, and the state that the provider sends back, are sealed names of the record: neither can be
 *     forged or used in place of the other.
 * A2  The callback must come from the browser that consented: the record holds the hash of its cookie, which only
 *     the page of the link sets.
 * A3  Used once: the record is deleted before the code is exchanged. If the process dies in between, nothing
 *     remains and the person starts again.
 */
import { hash, timingSafeEqual } from 'node:crypto';
import { CONNECTION_LIMITS } from '@gantry/protocol';
import type { Change, RecordKind, Secret, Stored } from '@gantry/resources';
import type { MasterKey } from '../master-key.ts';
import type { ConnectionRecord, Holder } from './connection.ts';

export interface AuthorizationRecord extends Holder, Pick<ConnectionRecord, 'access' | 'scopes'> {
  readonly redirectUri: string;
  readonly codeVerifier: Secret;
  /** A2: set at the consent. */
  readonly browser: string | null;
  readonly endsAt: number;
}

export type Authorization = Stored<AuthorizationRecord>;

export const authorizations: RecordKind<AuthorizationRecord> = {
  kind: 'oauth-authorization',
  idPrefix: 'oaz',
  max: CONNECTION_LIMITS.authorizationsPerTenantMax,
  secret: ['codeVerifier'],
  expiresAt: ({ endsAt }) => endsAt,
};

type Name = Pick<Authorization, 'tenant' | 'id'>;
type Purpose = 'link' | 'state';

/** A1. */
export const sealedName = (
  masterKey: Pick<MasterKey, 'seal'>,
  { tenant, id }: Name,
  purpose: Purpose,
): string => masterKey.seal(JSON.stringify([tenant, id]), `oauth-${purpose}`);

/** Null if this host did not make it. */
export function nameIn(masterKey: Pick<MasterKey, 'open'>, sealed: string, purpose: Purpose): Name | null {
  const text = masterKey.open(sealed, `oauth-${purpose}`);
  if (text === null) return null;
  const [tenant, id] = JSON.parse(text);
  return { tenant, id };
}

/** Why an authorization cannot continue. */
export type Problem =
  /** Not ours, used, or too old: the answer does not say which. */
  | 'unknown'
  /** A2. */
  | 'other-browser';

/** Signed, so that nobody else can put a cookie of their own choice into the browser of a person who consents. */
export const newCookie = (masterKey: Pick<MasterKey, 'hmac'>, id: string, nonce: string): string =>
  `${nonce}.${masterKey.hmac('oauth-browser')(`${id}\0${nonce}`).toString('base64url')}`;

export function isOwnCookie(masterKey: Pick<MasterKey, 'hmac'>, id: string, cookie: string): boolean {
  const [nonce = ''] = cookie.split('.', 1);
  const own = Buffer.from(newCookie(masterKey, id, nonce));
  const given = Buffer.from(cookie);
  return own.length === given.length && timingSafeEqual(own, given);
}

export const browserOf = (cookie: string): string => hash('sha256', cookie, 'hex');

/** Null if it was deleted or its time is over. */
export async function current(change: Change, id: string): Promise<Authorization | null> {
  const found = await change.find(authorizations, id);
  return found && found.record.endsAt > change.now ? found : null;
}

/** A2: the first browser that consents is recorded; a second click in it changes nothing. */
export async function consent(change: Change, id: string, cookie: string): Promise<Authorization | Problem> {
  const found = await current(change, id);
  if (!found) return 'unknown';
  const browser = browserOf(cookie);
  if (found.record.browser === browser) return found;
  return found.record.browser === null ? change.update(found, { browser }) : 'other-browser';
}

/** A3. */
export async function claim(
  change: Change,
  id: string,
  { provider, cookie }: { readonly provider: string; readonly cookie: string | undefined },
): Promise<Authorization | Problem> {
  const found = await current(change, id);
  if (!found || found.record.provider !== provider || found.record.browser === null) return 'unknown';
  if (cookie === undefined || found.record.browser !== browserOf(cookie)) return 'other-browser';
  change.delete(found);
  return found;
}
