/** Who may call which tool, and how often. */
import { OpenwopError } from '@gantry/protocol';
import type { Store } from '@gantry/store';
import type { GatedCall, ToolGate } from './tool-calls.ts';

/** The scopes of a principal; null when they cannot be told. */
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
export const scopeGate =
  (scopesOf: ScopesOf): ToolGate =>
  async ({ tenant, principal, tool }) => {
    const { name: toolName, requiredScopes = [] } = tool;
    if (requiredScopes.length === 0) return;
    const scopes = principal === undefined ? null : await scopesOf(tenant, principal);
    if (scopes && requiredScopes.every((scope) => scopes.includes(scope))) return;
    throw new OpenwopError('forbidden', {
      message: `The principal of this run may not call ${toolName}. Start the run with a key that has its scopes.`,
      details: { scope: 'tool', toolName, requiredScopes: [...requiredScopes] },
    });
  };

interface Bucket {
  readonly tokens: number;
  readonly at: number;
}

/** Full ones are as good as none; beyond this the oldest goes. */
const BUCKETS_MAX = 10_000;
const MINUTE_MS = 60_000;

/** A token bucket for each principal and tool, in this process: `perMinute` at once, refilled evenly. */
export class RateGate {
  readonly #perMinute: number;
  readonly #now: () => number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(perMinute: number, now: () => number) {
    this.#perMinute = perMinute;
    this.#now = now;
  }

  readonly gate: ToolGate = (call) => {
    const key = keyOf(call);
    const now = this.#now();
    const tokens = this.#tokensOf(key, now);
    const { name: toolName } = call.tool;
    if (tokens >= 1) return this.#keep(key, { tokens: tokens - 1, at: now });
    const retryAfterSeconds = Math.ceil(((1 - tokens) * 60) / this.#perMinute);
    throw new OpenwopError('rate_limited', {
      message: `${toolName} was called more than ${this.#perMinute} times a minute. Try again after ${retryAfterSeconds} s.`,
      details: { scope: 'tool', toolName, retryAfterSeconds },
      headers: { 'Retry-After': String(retryAfterSeconds) },
    });
  };

  #tokensOf(key: string, now: number): number {
    const { tokens, at } = this.#buckets.get(key) ?? { tokens: this.#perMinute, at: now };
    return Math.min(this.#perMinute, tokens + (Math.max(0, now - at) * this.#perMinute) / MINUTE_MS);
  }

  #keep(key: string, bucket: Bucket): void {
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size <= BUCKETS_MAX) return;
    const [oldest] = this.#buckets.keys();
    if (oldest !== undefined) this.#buckets.delete(oldest);
  }
}

const keyOf = ({ tenant, principal = '', tool }: GatedCall): string =>
  [tenant, principal, tool.name].join('\0');
