/** Who may call which tool, and how often. */
import { hash } from 'node:crypto';
import { OpenwopError } from '@gantry/protocol';
import type { Store } from '@gantry/store';
import { takeToken, untilTokenMs } from '../runtime/token-bucket.ts';
import type { GatedCall, ToolHook } from './hook.ts';

/** The scopes of a principal; null when they are not known. */
export type ScopesOf = (tenant: string, principal: string) => Promise<readonly string[] | null>;

/** Of keys: a principal is the id of the key that started the run. */
export const keyScopes =
  ({ records }: Pick<Store, 'records'>, now: () => number): ScopesOf =>
  async (tenant, principal) => {
    const key = (await records.keys(tenant)).find(({ keyId }) => keyId === principal);
    const isValid = key?.revokedAt === null && (key.expiresAt === null || key.expiresAt > now());
    return isValid ? key.scopes : null;
  };

/** Whoever is unknown, or lacks a scope, is refused. */
export const scopeGate = (scopesOf: ScopesOf): ToolHook => ({
  async admit({ tenant, principal, tool }) {
    const { name: toolName, requiredScopes = [] } = tool;
    if (requiredScopes.length === 0) return;
    const scopes = principal === undefined ? null : await scopesOf(tenant, principal);
    if (scopes && requiredScopes.every((scope) => scopes.includes(scope))) return;
    throw new OpenwopError('forbidden', {
      message: `The principal of this run may not call ${toolName}. Start the run with a key that has its scopes.`,
      details: { scope: 'tool', toolName, requiredScopes: [...requiredScopes] },
    });
  },
});

/** A token bucket for each principal and tool: `perMinute` at once. */
export function rateGate(
  perMinute: number,
  { entries }: Pick<Store, 'entries'>,
  now: () => number,
): ToolHook {
  const limit = { requests: perMinute, perSeconds: 60 };
  const keyOf = ({ tenant, principal = '', tool }: GatedCall) => ({
    kind: 'tool-rate',
    tenant,
    id: hash('sha256', `${tool.name}\0${principal}`, 'base64url'),
  });
  return {
    reserve: (call) => [takeToken(limit, keyOf(call), now())],
    async full(call) {
      const { name: toolName } = call.tool;
      const waitMs = untilTokenMs(limit, await entries.counter(keyOf(call)), now());
      const retryAfterSeconds = Math.ceil(waitMs / 1_000);
      return new OpenwopError('rate_limited', {
        message: `${toolName} was called more than ${perMinute} times a minute. Try again after ${retryAfterSeconds} s.`,
        details: { scope: 'tool', toolName, retryAfterSeconds },
        headers: { 'Retry-After': String(retryAfterSeconds) },
      });
    },
  };
}
