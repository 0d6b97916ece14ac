import { limiter } from '@gantry/limiter';
import { CarriedCredential, type CredentialJudge, type CredentialTerms } from './carried-credential.ts';
import { type Connection, connect } from './connect.ts';
import { EgressError, type EgressProblem } from './error.ts';
import type { Answer } from './exchange.ts';
import { allowed, type Guard, GuardedRequest } from './guarded-request.ts';
import { interruption } from './interruption.ts';
import { KeptLines } from './kept-lines.ts';
import { nameLookup } from './name-lookup.ts';
import { type OutgoingOptions, outgoing } from './outgoing.ts';
import { DEFAULT_TENANT, type EgressPolicy } from './policy.ts';
import { type Lookup, resolve, systemLookup } from './resolve.ts';
import {
  type Judgement,
  judgeMailServer,
  judgeName,
  type MailTerms,
  type Target,
  urlJudge,
} from './target.ts';

export interface EgressOptions {
  readonly policy: EgressPolicy;
  readonly lookup?: Lookup;
  /** Name servers to use instead of those of the machine: `address` or `address:port`. */
  readonly dnsServers?: readonly string[];
  /** How credentials are checked. By default they are only sent to their audiences, by the clock of this machine. */
  readonly credentials?: Partial<CredentialJudge>;
}

/** The tenant and the time limit. */
export interface EgressTerms {
  /** Entries apply to a tenant, and lookups are limited per tenant. Default: the host itself, as `default`. */
  readonly tenant?: string;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface EgressRequest extends OutgoingOptions, EgressTerms, CredentialTerms {
  /** For everything together: lookups, connections, redirects and the body. */
  readonly timeoutMs?: number;
  /** Between two chunks of the body. Default: only `timeoutMs` applies. */
  readonly idleTimeoutMs?: number;
  readonly maxResponseBytes?: number;
  /** The number of redirects to follow. With 0, a 3xx is a normal response. */
  readonly redirects?: number;
  /** Headers that, like Authorization and Cookie, are sent to the first origin only. */
  readonly sensitiveHeaders?: readonly string[];
  /** Called when the request goes out: before that, no server can have received any of it. */
  readonly onSend?: () => void;
}

export interface EgressResponse {
  readonly status: number;
  readonly headers: Headers;
  /** As received; not decompressed. */
  readonly body: Uint8Array;
  /** The address that answered. */
  readonly address: string;
  /** The URL that answered, without fragment. */
  readonly url: string;
  readonly redirected: boolean;
}

/** A response whose body is still arriving. A failed read rejects with `EgressError`. */
export interface EgressStream extends Omit<EgressResponse, 'body'> {
  /** Must be read to its end or cancelled: until then, or until the timeout, the connection is in use. */
  readonly body: ReadableStream<Uint8Array>;
}

export interface Egress {
  /** Rejects with `EgressError`. Every status, including 5xx, is a response. */
  request(url: string, request?: EgressRequest): Promise<EgressResponse>;
  /** Like `request`, with the same limits, but resolves once the headers have arrived. */
  stream(url: string, request?: EgressRequest): Promise<EgressStream>;
  /** The current problem with this URL, if any; resolves its name too. `request` checks again. */
  check(url: string, terms?: EgressTerms): Promise<EgressProblem | undefined>;
  /** The addresses of a name that may be called. Rejects with `EgressError` if one of them may not. */
  addresses(name: string, terms?: EgressTerms): Promise<readonly string[]>;
  /**
   * A connection to a mail server at a checked address. The caller encrypts and ends it. Rejects with
   * `EgressError`.
   */
  connect(url: string, terms?: EgressTerms & MailTerms): Promise<Connection>;
  /** The current problem with the URL of a mail server, if any. */
  checkMailServer(url: string, terms?: EgressTerms & MailTerms): Promise<EgressProblem | undefined>;
  /** Closes idle connections. */
  close(): void;
}

const TIMEOUT_MS = 30_000;
const CHECK_TIMEOUT_MS = 5_000;
const RESPONSE_BYTES_MAX = 10 * 1024 * 1024;

const LOOKUPS_MAX = 64;
const TENANT_LOOKUPS_MAX = 4;

/**
 * All outgoing requests of the host use this: `createEgress({ policy: PUBLIC_POLICY
 * }).request('https://example.com/')`.
 */
export function createEgress(options: EgressOptions): Egress {
  const { policy, dnsServers: servers } = options;
  const { lookup = nameLookup({ servers }) } = options;
  const namedLookup = options.lookup ?? systemLookup;
  const lookups = limiter({ max: LOOKUPS_MAX, perTenantMax: TENANT_LOOKUPS_MAX });
  const lines = new KeptLines();
  const judgeUrl = urlJudge(policy);
  const credentialJudge = { wallTime: Date.now, ...options.credentials };
  const begin = (terms: EgressRequest): Guard => {
    const { tenant = '', maxResponseBytes: bytesMax = RESPONSE_BYTES_MAX } = terms;
    const { redirects: redirectsMax = 0, sensitiveHeaders = [], onSend } = terms;
    const credential = terms.credential && new CarriedCredential(terms.credential, terms, credentialJudge);
    const judge = (url: string) => judgeUrl(url, tenant || DEFAULT_TENANT);
    const interrupted = interruption({ timeoutMs: TIMEOUT_MS, ...terms });
    const bounds = { bytesMax, redirectsMax, sensitiveHeaders, onSend };
    const { inspect, onDecision } = terms;
    const secrets = { credential, inspect, onDecision };
    return { ...interrupted, ...bounds, judge, lookup, namedLookup, lookups, lines, tenant, ...secrets };
  };
  const sending =
    <Body>(take: (answer: Answer, done: () => void) => Promise<Body>) =>
    async (url: string, terms: EgressRequest) => {
      const message = outgoing(terms);
      const guard = begin(terms);
      try {
        const taken = (answer: Answer) => take(answer, guard.clear);
        return await new GuardedRequest(guard, taken).send(url, message);
      } catch (error) {
        guard.clear();
        throw error;
      }
    };
  const request = sending(async (answer, done) => {
    const body = await answer.read();
    done();
    return body;
  });
  const stream = sending(async (answer, done) => answer.stream(done));
  return {
    request: (url, terms = {}) => renewing(request, url, terms),
    stream: (url, terms = {}) => renewing(stream, url, terms, ({ body }) => body.cancel()),
    check: (url, terms = {}) =>
      problemWith(begin({ timeoutMs: CHECK_TIMEOUT_MS, ...terms }), (guard) => guard.judge(url)),
    ...mailServers(policy, begin),
    addresses: async (name, terms = {}) => {
      const host = allowed(judgeName(name, policy, terms.tenant));
      const guard = begin(terms);
      return resolve(host, guard).finally(guard.clear);
    },
    close: () => lines.close(),
  };
}

function mailServers(
  policy: EgressPolicy,
  begin: (terms: EgressTerms) => Guard,
): Pick<Egress, 'connect' | 'checkMailServer'> {
  const judge = (url: string, terms: EgressTerms & MailTerms) =>
    judgeMailServer(url, terms, policy, terms.tenant ?? DEFAULT_TENANT);
  return {
    checkMailServer: (url, terms = {}) =>
      problemWith(begin({ timeoutMs: CHECK_TIMEOUT_MS, ...terms }), () => judge(url, terms)),
    connect: async (url, terms = {}) => {
      const target = allowed(judge(url, terms));
      const guard = begin(terms);
      try {
        const addresses = await resolve(target, guard);
        return await connect(target, { addresses, signal: guard.signal });
      } finally {
        guard.clear();
      }
    },
  };
}

async function problemWith(
  guard: Guard,
  judge: (guard: Guard) => Judgement<Target>,
): Promise<EgressProblem | undefined> {
  try {
    await resolve(allowed(judge(guard)), guard);
    return undefined;
  } catch (error) {
    if (error instanceof EgressError) return { reason: error.reason, message: error.message };
    throw error;
  } finally {
    guard.clear();
  }
}

const UNAUTHORIZED = 401;

/** If the destination refuses the credential, it is renewed and sent once more: the first request had no effect. */
async function renewing<A extends Pick<EgressResponse, 'status' | 'url'>>(
  send: (url: string, terms: EgressRequest) => Promise<A>,
  url: string,
  terms: EgressRequest,
  discard: (answer: A) => Promise<void> = async () => {},
): Promise<A> {
  const answer = await send(url, terms);
  const { renew } = terms.credential ?? {};
  if (!renew || answer.status !== UNAUTHORIZED) return answer;
  if (URL.parse(url)?.origin !== URL.parse(answer.url)?.origin) return answer;
  await discard(answer);
  const { renew: _once, ...credential } = await renew();
  return send(url, { ...terms, credential });
}
