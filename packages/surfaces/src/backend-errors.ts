/** Errors of backend servers: unreachable ones may recover; the operator has to fix those that reject the host. */
import { LimiterError, type LimiterReason } from '@gantry/limiter';
import { type ErrorCode, OpenwopError } from '@gantry/protocol';

export type UnavailableCode = Extract<ErrorCode, 'storage_unavailable' | 'queue_backend_unavailable'>;

export type Trouble =
  /** The server does not answer, or cannot serve for now. It is used again once it can. */
  | 'unreachable'
  /** The server answers but rejects the host, for example for a wrong password. The operator has to fix it. */
  | 'rejected'
  /** Like `rejected`, and fails the start. If found later, it is the health problem and the error of every call. */
  | 'misconfigured';

export const stateOf = (trouble: Trouble): 'unreachable' | 'rejected' =>
  trouble === 'unreachable' ? 'unreachable' : 'rejected';

export interface ServerErrorOptions {
  readonly trouble?: Trouble;
  /** Added to the message when the caller wrote. */
  readonly toWriter?: string;
  readonly cause?: unknown;
}

interface ServerFacts extends Required<Omit<ServerErrorOptions, 'cause'>> {
  readonly cause: unknown;
  readonly code: UnavailableCode;
  readonly server: string;
  readonly rest: string;
}

/** The message has the server address for the operator, and omits it for pack code. */
export class ServerError extends OpenwopError {
  declare readonly code: UnavailableCode;
  readonly trouble: Trouble;
  readonly #facts: ServerFacts;

  /** `server`: `PostgreSQL at 127.0.0.1:5432`, never with a password. `rest`: the rest of the sentence. */
  constructor(
    code: UnavailableCode,
    server: string,
    rest: string,
    { trouble = 'unreachable', toWriter = '', cause }: ServerErrorOptions = {},
  ) {
    super(code, { message: textOf(server, rest, toWriter), cause });
    this.trouble = trouble;
    this.#facts = { code, server, rest, trouble, toWriter, cause };
  }

  forPack(): OpenwopError {
    const { code, server, rest, toWriter } = this.#facts;
    return new OpenwopError(code, { message: textOf(server.replace(/ at .*$/s, ''), rest, toWriter) });
  }

  /** A copy with the code of another surface. */
  as(code: UnavailableCode): ServerError {
    return this.#changed({ code });
  }

  /** A copy for a caller that only read. */
  toReader(): ServerError {
    return this.#changed({ toWriter: '' });
  }

  /** A copy for a server that the operator knows by a name other than its address. */
  at(location: string): ServerError {
    return this.#changed({ server: `${this.#facts.server} at ${location}` });
  }

  /** A copy that does not fail the start. */
  stoppingNothing(): ServerError {
    return this.trouble === 'misconfigured' ? this.#changed({ trouble: 'rejected' }) : this;
  }

  #changed(to: Partial<ServerFacts>): ServerError {
    const { code, server, rest, ...options } = { ...this.#facts, ...to };
    return new ServerError(code, server, rest, options);
  }
}

const textOf = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join(' ');

/** No call was in progress. */
export const unreachable = (server: string, reason: string): ServerError =>
  new ServerError(
    'storage_unavailable',
    server,
    `cannot be reached (${reason}). Nothing was changed; the next call tries it again.`,
  );

export const refused = (server: string, why: string, cause?: unknown): ServerError =>
  new ServerError('storage_unavailable', server, why, { trouble: 'misconfigured', cause });

/** A call that is safe to repeat was in progress. */
export const lost = (server: string, reason: string, cause: unknown): ServerError =>
  new ServerError('storage_unavailable', server, `is not available (${reason}). Try again later.`, {
    toWriter: 'Whether the last write was kept is not known; asking again is safe.',
    cause,
  });

/** A read changes nothing, so its outcome is never in doubt. */
export const toReader = <E>(error: E): E | ServerError =>
  error instanceof ServerError ? error.toReader() : error;

const UNAVAILABLE: readonly string[] = ['storage_unavailable', 'queue_backend_unavailable'];

export const isUnavailable = (error: unknown): error is OpenwopError =>
  error instanceof OpenwopError && UNAVAILABLE.includes(error.code);

/** Repeating the call is safe even when the outcome is unknown: a write that was kept is recorded with its answer. */
export const unavailable = (reason: string, kept = 'Nothing was changed.'): OpenwopError =>
  new OpenwopError('storage_unavailable', { message: `${reason} ${kept && `${kept} `}Try again later.` });

const TURN_REFUSALS: Readonly<Record<LimiterReason, string>> = {
  timeout: 'The call waited too long for others to finish.',
  'queue-full': 'Too many calls of this tenant are waiting already.',
  'too-heavy': 'This call needs more than the limit.',
  closed: 'The host is stopping.',
};

/** Rethrows a limiter's refusal as `storage_unavailable`. */
export function refusedTurn(error: unknown): never {
  throw error instanceof LimiterError ? unavailable(TURN_REFUSALS[error.reason]) : error;
}

/** The error code of a driver or the system. Null means a bug. */
export const codeOf = (error: unknown): string | null =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;

/** Node reports this TLS failure only in the message text. */
const HUNG_UP = 'before secure TLS connection was established';

/** Adds the TLS hint that `code` lacks. */
export const ofConnecting = (error: unknown, code: string): string =>
  error instanceof Error && error.message.includes(HUNG_UP)
    ? `${code} while TLS was agreed on: the address asks for TLS, which the server may not have`
    : code;

interface TlsFault {
  readonly codes: RegExp;
  /** Node's message text, for drivers that replace the code with their own. */
  readonly says?: RegExp;
  readonly why: string;
}

/** The first match counts. Faults that are fixed at the server need no restart of the host. */
const TLS_FAULTS: readonly TlsFault[] = [
  {
    codes: /^(SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_\w*(CERT|SIGNATURE)\w*)$/,
    says: /^(self-signed certificate|unable to (verify the first|get (local )?issuer) certificate)/,
    why: 'has a certificate of an unknown authority (#). Set NODE_EXTRA_CA_CERTS to the file of your CA (PEM), and restart the host.',
  },
  {
    codes: /^(ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/,
    says: /^Hostname\/IP does not match/,
    why: 'has a certificate for another host name (#). Use a name of the certificate in the address, or install a certificate for this name.',
  },
  {
    codes: /^CERT_HAS_EXPIRED$/,
    says: /^certificate has expired/,
    why: 'has a certificate that has expired (#). Give the server a new one.',
  },
  {
    codes: /^CERT_NOT_YET_VALID$/,
    says: /^certificate is not yet valid/,
    why: 'has a certificate that is not valid yet (#). Check that both system clocks are correct.',
  },
  {
    codes: /CERTIFICATE_REQUIRED$/,
    says: /certificate required/,
    why: 'requires a client certificate (#), which is not supported. Use a user with a password.',
  },
  {
    codes: /^(ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG|EPROTO|HANDSHAKE_NO_SSL_SUPPORT)$/,
    says: /(wrong version number|packet length too long)/,
    why: 'does not speak TLS there, which the address asks for (#). Name the port that does, or switch it on at the server.',
  },
  {
    codes: /^(ERR_SSL_|ERR_TLS_|CERT_|CA_|EE_|INVALID_(CA|PURPOSE)|HANDSHAKE_SSL_ERROR)/,
    why: 'TLS handshake failed (#). Check its certificate, its TLS versions and its log.',
  },
];

/** Describes a TLS failure and its fix, as the rest of a sentence about the server. Null for other errors. */
export function tlsFault(error: unknown): string | null {
  const code = codeOf(error);
  if (code === null || !(error instanceof Error)) return null;
  // The server may have stopped meanwhile
  if (error.message.includes(HUNG_UP)) return null;
  const fault = TLS_FAULTS.find(({ codes, says }) => codes.test(code) || says?.test(error.message));
  return fault?.why.replace('#', code) ?? null;
}

/** When only one side speaks TLS, both wait for each other or the connection is closed. */
const PERHAPS_TLS: readonly string[] = ['ETIMEDOUT', 'ECONNRESET'];

/** The error of a failed connection attempt: no call was in progress. */
export function unconnected(server: string, error: unknown, reason: string): ServerError {
  const fault = tlsFault(error);
  if (fault !== null)
    return new ServerError('storage_unavailable', server, fault, { trouble: 'rejected', cause: error });
  return unreachable(server, perhapsTls(ofConnecting(error, reason)));
}

export const perhapsTls = (reason: string): string =>
  PERHAPS_TLS.includes(reason) ? `${reason}, which may also be because only one side speaks TLS` : reason;

/** The number of deleted items. An unreachable server is swept later, and does not stop the sweep of others. */
export const sweptIfReachable = (sweeping: Promise<number>): Promise<number> =>
  sweeping.catch((error: unknown) => {
    if (isUnavailable(error)) return 0;
    throw error;
  });
