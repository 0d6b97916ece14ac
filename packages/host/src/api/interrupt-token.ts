/**
 * Signed tokens for one interrupt: the holder may read it, or resolve it, without a key.
 *
 * I1  The signature covers everything the token says and is compared in constant time.
 * I2  A token always expires, never later than the interrupt it is for.
 * I3  It names one interrupt: once that is resolved, no later interrupt of the same node accepts it.
 */
import { timingSafeEqual } from 'node:crypto';
import type { Interrupt } from '@gantry/engine';
import { OpenwopError } from '@gantry/protocol';
import type { RunKey } from '@gantry/store';

const LIFETIME_MS = 30 * 60_000;
const TOKEN_LENGTH_MAX = 2_048;

export interface TokenClaims extends RunKey {
  readonly nodeId: string;
  readonly interruptId: string;
  readonly expiresAt: number;
  /** `resolve` may look and answer, `inspect` only look. */
  readonly intent: 'resolve' | 'inspect';
}

export interface InterruptTokens {
  issue(asked: {
    readonly key: RunKey;
    readonly nodeId: string;
    readonly interrupt: Interrupt;
    readonly intent: TokenClaims['intent'];
  }): string;
  /** Throws `interrupt_not_found` for what is not a token of ours, `interrupt_expired` for an old one. */
  read(token: string): TokenClaims;
}

export function createInterruptTokens(hmac: (text: string) => Buffer, now: () => number): InterruptTokens {
  const sign = (body: string): Buffer => hmac(body);
  return {
    issue({ key, nodeId, interrupt, intent }) {
      const { interruptId, expiresAt = Number.POSITIVE_INFINITY } = interrupt;
      const until = Math.min(now() + LIFETIME_MS, expiresAt);
      const claims: TokenClaims = { ...key, nodeId, interruptId, expiresAt: until, intent };
      const body = Buffer.from(JSON.stringify(claims)).toString('base64url');
      return `${body}.${sign(body).toString('base64url')}`;
    },
    read(token) {
      const claims = verified(token, sign);
      if (!claims) throw new OpenwopError('interrupt_not_found');
      if (claims.expiresAt <= now()) throw new OpenwopError('interrupt_expired');
      return claims;
    },
  };
}

function verified(token: string, sign: (body: string) => Buffer): TokenClaims | undefined {
  const dot = token.indexOf('.');
  if (dot <= 0 || token.length > TOKEN_LENGTH_MAX) return;
  const body = token.slice(0, dot);
  const given = Buffer.from(token.slice(dot + 1), 'base64url');
  const right = sign(body);
  if (given.length !== right.length || !timingSafeEqual(given, right)) return;
  return JSON.parse(Buffer.from(body, 'base64url').toString('utf8'));
}
