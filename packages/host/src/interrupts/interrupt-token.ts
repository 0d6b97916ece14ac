/**
 * Signed tokens for one interrupt: the holder may read it, or resolve it, without a key.
 *
 * I1  The signature covers the whole content of the token and is compared in constant time.
 * I2  A token always expires, never later than the interrupt it is for.
 * I3  It names one interrupt: once that is resolved, no later interrupt of the same node accepts it.
 */
import { timingSafeEqual } from 'node:crypto';
import type { Interrupt } from '@gantry/engine';
import { OpenwopError } from '@gantry/protocol';
import type { Caller } from '@gantry/resources';
import type { RunKey } from '@gantry/store';
import type { LinkRevocations } from './link-revocations.ts';

const LIFETIME_MS = 30 * 60_000;
const TOKEN_LENGTH_MAX = 2_048;

export interface TokenClaims extends RunKey {
  readonly nodeId: string;
  readonly interruptId: string;
  readonly expiresAt: number;
  /** `resolve` may read and answer, `inspect` may only read. */
  readonly intent: 'resolve' | 'inspect';
  /** The person for whom it was made: the holder answers as this person. */
  readonly person?: string;
  readonly madeAt?: number;
}

interface Asked {
  readonly key: RunKey;
  readonly nodeId: string;
  readonly interrupt: Pick<Interrupt, 'interruptId' | 'expiresAt'>;
}

export interface PersonalToken {
  readonly token: string;
  readonly expiresAt: number;
}

export interface TokenOptions {
  readonly hmac: (text: string) => Buffer;
  readonly now: () => number;
  /** The lifetime of a token for a person if the interrupt has no deadline. */
  readonly personalMs: number;
  readonly revocations: Pick<LinkRevocations, 'revoke' | 'isRevoked'>;
}

export type InterruptTokens = ReturnType<typeof createInterruptTokens>;

export function createInterruptTokens({ hmac, now, personalMs, revocations }: TokenOptions) {
  const signed = (claims: TokenClaims): string => {
    const body = Buffer.from(JSON.stringify(claims)).toString('base64url');
    return `${body}.${hmac(body).toString('base64url')}`;
  };
  return {
    issue({ key, nodeId, interrupt, intent }: Asked & Pick<TokenClaims, 'intent'>): string {
      const { interruptId, expiresAt = Number.POSITIVE_INFINITY } = interrupt;
      const until = Math.min(now() + LIFETIME_MS, expiresAt);
      return signed({ ...key, nodeId, interruptId, expiresAt: until, intent });
    },
    /**
     * A token for one person. It expires with the interrupt; without a deadline, some days after `from`.
     * Undefined if the names of person and node are too long for a URL.
     */
    issueFor(person: string, { key, nodeId, interrupt }: Asked, from: number): PersonalToken | undefined {
      const { interruptId, expiresAt = from + personalMs } = interrupt;
      const claims = {
        ...key,
        nodeId,
        interruptId,
        expiresAt,
        intent: 'resolve',
        person,
        madeAt: from,
      } as const;
      const token = signed(claims);
      return token.length <= TOKEN_LENGTH_MAX ? { token, expiresAt } : undefined;
    },
    /** Revokes the links of the person. */
    revoke(caller: Caller, person: string, { key: { runId }, interrupt }: Asked): Promise<void> {
      const { interruptId, expiresAt = now() + personalMs } = interrupt;
      return revocations.revoke(caller, { runId, interruptId, person, expiresAt });
    },
    /**
     * Rejects with `interrupt_not_found` for a token that is not ours, `interrupt_expired` for an old or revoked one.
     */
    async read(token: string): Promise<TokenClaims> {
      const claims = verified(token, hmac);
      if (!claims) throw new OpenwopError('interrupt_not_found');
      if (claims.expiresAt <= now()) throw new OpenwopError('interrupt_expired');
      if (await revocations.isRevoked(claims))
        throw new OpenwopError('interrupt_expired', {
          message: 'This link was withdrawn. Ask the sender for a new one.',
        });
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
