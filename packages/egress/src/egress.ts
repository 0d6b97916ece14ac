import { limiter } from '@gantry/limiter';
import { connect } from './connect.ts';
import { EgressError, type EgressProblem, egressProblem } from './error.ts';
import { type Answer, exchange } from './exchange.ts';
import { interruption } from './interruption.ts';
import { nameLookup } from './name-lookup.ts';
import { type Outgoing, type OutgoingOptions, outgoing } from './outgoing.ts';
import { DEFAULT_TENANT, type EgressPolicy } from './policy.ts';
import { follow, redirectOf } from './redirect.ts';
import { type Lookup, type ResolveOptions, resolve, systemLookup } from './resolve.ts';
import { type Judgement, judgeName, judgeUrl, type Target } from './target.ts';

export interface EgressOptions {
  readonly policy: EgressPolicy;
  readonly lookup?: Lookup;
  /** Name servers to ask instead of those of the machine: `address` or `address:port`. */
  readonly dnsServers?: readonly string[];
  /** A clock in milliseconds, for `durationMs`. */
  readonly now?: () => number;
}

/** For which tenant, and how long at most. */
export interface EgressTerms {
  /** Entries hold for a tenant, and lookups are counted by tenant. Default: the host itself, as `default`. */
  readonly tenant?: string;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface EgressRequest extends OutgoingOptions, EgressTerms {
  /** For everything together: names, connections, redirects and the body. */
  readonly timeoutMs?: number;
  readonly maxResponseBytes?: number;
  /** How many to follow. With 0, a 3xx is an answer like any other. */
  readonly redirects?: number;
  /** Headers that, like Authorization and Cookie, are sent to the first origin only. */
  readonly sensitiveHeaders?: readonly string[];
}

export interface EgressResponse {
  readonly status: number;
  readonly headers: Headers;
  /** As it came over the wire; nothing is decompressed. */
  readonly body: Uint8Array;
  /** The address that answered. */
  readonly address: string;
  /** The URL that answered, without fragment. */
  readonly url: string;
  readonly redirected: boolean;
  readonly durationMs: number;
}

/** An answer whose body still arrives; reading it rejects with `EgressError`. */
export interface EgressStream extends Omit<EgressResponse, 'body' | 'durationMs'> {
  /** To be read to its end or cancelled: until then, or until the time is over, the connection stays open. */
  readonly body: ReadableStream<Uint8Array>;
}

export interface Egress {
  /** Rejects with `EgressError`. Every status, 5xx too, is an answer. */
  request(url: string, request?: EgressRequest): Promise<EgressResponse>;
  /** The same under the same bounds, but answers as soon as the headers are there. */
  stream(url: string, request?: EgressRequest): Promise<EgressStream>;
  /** What is wrong with this URL now; it also asks the resolver. `request` checks again. */
  check(url: string, terms?: EgressTerms): Promise<EgressProblem | undefined>;
  /** The addresses of a name that may be called. Rejects with `EgressError`, also where one of them may not. */
  addresses(name: string, terms?: EgressTerms): Promise<readonly string[]>;
}

const TIMEOUT_MS = 30_000;
const CHECK_TIMEOUT_MS = 5_000;
const RESPONSE_BYTES_MAX = 10 * 1024 * 1024;

const LOOKUPS_MAX = 64;
const TENANT_LOOKUPS_MAX = 4;

interface Guard extends ResolveOptions {
  judge(url: string): Judgement<Target>;
}

interface Limits {
  readonly redirectsMax: number;
  readonly sensitiveHeaders: readonly string[];
}

function allowed<T>(judgement: Judgement<T>): T {
  if (!judgement.allowed) throw new EgressError(judgement.problem);
  return judgement.target;
}

type Answered<Body> = Omit<EgressResponse, 'body' | 'durationMs'> & { readonly body: Body };

/** One request with its redirects. Each hop is judged, resolved and pinned by itself. */
class GuardedRequest<Body> {
  readonly #guard: Guard;
  readonly #limits: Limits;
  readonly #take: (answer: Answer) => Promise<Body>;
  #sent = false;

  constructor(guard: Guard, limits: Limits, take: (answer: Answer) => Promise<Body>) {
    this.#guard = guard;
    this.#limits = limits;
    this.#take = take;
  }

  async send(url: string, first: Outgoing): Promise<Answered<Body>> {
    try {
      return await this.#hop(url, first, 0);
    } catch (error) {
      throw this.#sent && error instanceof EgressError ? error.afterSending() : error;
    }
  }

  async #hop(url: string, message: Outgoing, followed: number): Promise<Answered<Body>> {
    const target = allowed(this.#guard.judge(url));
    const { address, answer } = await this.#exchange(target, message);
    const { status, headers } = answer;
    const redirect = this.#limits.redirectsMax > 0 ? redirectOf(status, headers) : undefined;
    if (!redirect) {
      const body = await this.#take(answer);
      return { status, headers, body, address, url: target.url.href, redirected: followed > 0 };
    }
    answer.close();
    if (followed === this.#limits.redirectsMax) {
      const happened = `The server redirects more than ${followed} times.`;
      throw new EgressError(egressProblem('too_many_redirects', happened));
    }
    const next = follow(target.url, message, redirect, this.#limits.sensitiveHeaders);
    if (!next.allowed) throw new EgressError(next.problem);
    return this.#hop(next.url, next.outgoing, followed + 1);
  }

  async #exchange(target: Target, message: Outgoing): Promise<{ address: string; answer: Answer }> {
    const addresses = await resolve(target, this.#guard);
    const connection = await connect(target, { ...this.#guard, addresses });
    this.#sent = true;
    const answer = await exchange(target, connection, message, this.#guard.signal);
    return { address: connection.address, answer };
  }
}

/** The host's only way out: `createEgress({ policy: PUBLIC_POLICY }).request('https://example.com/')`. */
export function createEgress(options: EgressOptions): Egress {
  const { policy, dnsServers: servers, now = () => performance.now() } = options;
  const { lookup = nameLookup({ servers }) } = options;
  const namedLookup = options.lookup ?? systemLookup;
  const lookups = limiter({ max: LOOKUPS_MAX, perTenantMax: TENANT_LOOKUPS_MAX });
  const begin = ({ tenant = '', timeoutMs = TIMEOUT_MS, signal: caller }: EgressTerms) => {
    const { signal, clear } = interruption(timeoutMs, caller);
    const judge = (url: string) => judgeUrl(url, policy, tenant || DEFAULT_TENANT);
    return { guard: { judge, lookup, namedLookup, lookups, tenant, signal }, clear };
  };
  return {
    request: async (url, request = {}) => {
      const startedAt = now();
      const message = outgoing(request);
      const { maxResponseBytes = RESPONSE_BYTES_MAX } = request;
      const { guard, clear } = begin(request);
      const read = (answer: Answer) => answer.read(maxResponseBytes);
      try {
        const guarded = new GuardedRequest(guard, limitsOf(request), read);
        return { ...(await guarded.send(url, message)), durationMs: now() - startedAt };
      } finally {
        clear();
      }
    },
    stream: async (url, request = {}) => {
      const message = outgoing(request);
      const { maxResponseBytes = RESPONSE_BYTES_MAX } = request;
      const { guard, clear } = begin(request);
      const open = async (answer: Answer) => answer.stream(maxResponseBytes, clear);
      try {
        return await new GuardedRequest(guard, limitsOf(request), open).send(url, message);
      } catch (error) {
        clear();
        throw error;
      }
    },
    check: async (url, terms = {}) => {
      const { guard, clear } = begin({ timeoutMs: CHECK_TIMEOUT_MS, ...terms });
      try {
        await resolve(allowed(guard.judge(url)), guard);
        return undefined;
      } catch (error) {
        if (error instanceof EgressError) return { reason: error.reason, message: error.message };
        throw error;
      } finally {
        clear();
      }
    },
    addresses: async (name, terms = {}) => {
      const host = allowed(judgeName(name, policy, terms.tenant));
      const { guard, clear } = begin(terms);
      return resolve(host, guard).finally(clear);
    },
  };
}

const limitsOf = ({ redirects = 0, sensitiveHeaders = [] }: EgressRequest): Limits => ({
  redirectsMax: redirects,
  sensitiveHeaders,
});
