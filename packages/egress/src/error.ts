/** Why a request was refused or failed, with advice for the reader. Closed: callers switch over it. */
const NEXT = {
  url_invalid: 'Use an absolute URL with a plain host name.',
  scheme_not_allowed: 'Use https.',
  credentials_in_url: 'Take the user name and password out of the URL and send a header instead.',
  host_not_allowed: 'Use a public host name.',
  address_not_allowed: 'Use a host whose addresses are all public.',
  port_not_allowed: 'Use the usual port of the scheme, or one that the operator allows.',
  request_not_allowed: 'Change the request; nothing was sent.',
  upgrade_not_allowed: 'Use plain HTTP requests; connections cannot be upgraded or tunnelled.',
  resolve_failed: 'Check the spelling of the host name, or try again later.',
  connect_failed: 'Check that the server is up and reachable, then try again.',
  tls_failed: 'Give the server a valid certificate for this host name.',
  timeout: 'Try again later, or allow more time.',
  response_invalid: 'Check that the server speaks HTTP/1.1.',
  response_too_large: 'Ask for less, or raise the limit.',
  too_many_redirects: 'Use the final URL.',
  redirect_not_allowed: 'Use the final URL, over https.',
  credential_not_allowed: 'Call an audience of the credential, or change its audiences or value.',
  aborted: 'Nothing to do; the caller gave up.',
} as const;

export type EgressReason = keyof typeof NEXT;

/** Safe to show: names the host at most, never path, query, credentials or a resolved address. */
export interface EgressProblem {
  readonly reason: EgressReason;
  readonly message: string;
}

/** `happened` is one sentence. The advice is appended, with the entry that would allow the call. */
export function egressProblem(reason: EgressReason, happened: string, entry?: string): EgressProblem {
  const allow = entry === undefined ? '' : ` The operator can allow it with ${entry} in GANTRY_EGRESS_ALLOW.`;
  return { reason, message: `${happened} ${NEXT[reason]}${allow}` };
}

export class EgressError extends Error implements EgressProblem {
  readonly reason: EgressReason;
  /** The code of the underlying system, resolver or TLS error, such as `ECONNREFUSED`. */
  readonly code: string | undefined;
  /** Whether the request may have reached a server. If not, it is safe to send it again. */
  readonly sent: boolean;

  constructor(problem: EgressProblem, options: { code?: string | undefined; sent?: boolean } = {}) {
    super(problem.message);
    this.name = 'EgressError';
    this.reason = problem.reason;
    this.code = options.code;
    this.sent = options.sent ?? false;
  }

  afterSending(): EgressError {
    return this.sent ? this : new EgressError(this, { code: this.code, sent: true });
  }
}

/** `cause` is the underlying error, whose code is kept. */
export const egressError = (reason: EgressReason, happened: string, cause?: unknown): EgressError =>
  new EgressError(egressProblem(reason, happened), { code: codeOf(cause) });

/** Node wraps the error of each failed address in an AggregateError; the first one is enough. */
export function codeOf(error: unknown): string | undefined {
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
