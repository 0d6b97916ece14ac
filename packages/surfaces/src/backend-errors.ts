/** Servers that are unreachable, which passes, and those that reject the host, which someone has to correct. */
import { LimiterError, type LimiterReason } from '@gantry/limiter';
import { type ErrorCode, OpenwopError } from '@gantry/protocol';

export type UnavailableCode = Extract<ErrorCode, 'storage_unavailable' | 'queue_backend_unavailable'>;

export type Trouble =
  /** It does not answer, or cannot for now: it is used again when it can. */
  | 'unreachable'
  /** It answers and rejects the host, such as for a wrong password: someone has to correct that. */
  | 'rejected'
  /** The same, and it stops a start. What shows up only later is the health problem, and the answer to every call. */
  | 'misconfigured';

export const stateOf = (trouble: Trouble): 'unreachable' | 'rejected' =>
  trouble === 'unreachable' ? 'unreachable' : 'rejected';

export interface ServerErrorOptions {
  readonly trouble?: Trouble;
  /** Added to the message for a caller that wrote. */
  readonly toWriter?: string;
  readonly cause?: unknown;
}

interface ServerFacts extends Required<Omit<ServerErrorOptions, 'cause'>> {
  readonly cause: unknown;
  readonly code: UnavailableCode;
  readonly server: string;
  readonly rest: string;
}

/** Names the server with its address to the operator, and without it to pack code. */
export class ServerError extends OpenwopError {
  declare readonly code: UnavailableCode;
  readonly trouble: Trouble;
  readonly #facts: ServerFacts;

  /** `server`: `PostgreSQL at 127.0.0.1:5432`, never with a password. `rest` is what is to be said of it. */
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

  /** The same under the code of another surface. */
  as(code: UnavailableCode): ServerError {
    return this.#changed({ code });
  }

  /** The same for a caller that wrote nothing. */
  toReader(): ServerError {
    return this.#changed({ toWriter: '' });
  }

  /** The same of a server that the operator knows by another name than its address. */
  at(location: string): ServerError {
    return this.#changed({ server: `${this.#facts.server} at ${location}` });
  }

  /** The same of a server that stops no start. */
  stoppingNothing(): ServerError {
    return this.trouble === 'misconfigured' ? this.#changed({ trouble: 'rejected' }) : this;
  }

  #changed(to: Partial<ServerFacts>): ServerError {
    const { code, server, rest, ...options } = { ...this.#facts, ...to };
    return new ServerError(code, server, rest, options);
  }
}

const textOf = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join(' ');

/** No call was under way there. */
export const unreachable = (server: string, reason: string): ServerError =>
  new ServerError(
    'storage_unavailable',
    server,
    `cannot be reached (${reason}). Nothing was changed; the next call tries it again.`,
  );

export const refused = (server: string, why: string, cause?: unknown): ServerError =>
  new ServerError('storage_unavailable', server, why, { trouble: 'misconfigured', cause });

/** While a call was under way that is safe to repeat. */
export const lost = (server: string, reason: string, cause: unknown): ServerError =>
  new ServerError('storage_unavailable', server, `is not available (${reason}). Try again later.`, {
    toWriter: 'Whether the last write was kept is not known; asking again is safe.',
    cause,
  });

/** A read changes nothing, and so leaves nothing in doubt. */
export const toReader = <E>(error: E): E | ServerError =>
  error instanceof ServerError ? error.toReader() : error;

const UNAVAILABLE: readonly string[] = ['storage_unavailable', 'queue_backend_unavailable'];

export const isUnavailable = (error: unknown): error is OpenwopError =>
  error instanceof OpenwopError && UNAVAILABLE.includes(error.code);

/** Asking again is safe even when the outcome is unknown: a write that was kept is on record with its answer. */
export const unavailable = (reason: string, kept = 'Nothing was changed.'): OpenwopError =>
  new OpenwopError('storage_unavailable', { message: `${reason} ${kept && `${kept} `}Try again later.` });

const TURN_REFUSALS: Readonly<Record<LimiterReason, string>> = {
  timeout: 'The call waited too long for others to finish.',
  'queue-full': 'Too many calls of this tenant are waiting already.',
  'too-heavy': 'This call needs more than the limit.',
  closed: 'The host is stopping.',
};

/** Rethrows what a limiter refused with as `storage_unavailable`. */
export function refusedTurn(error: unknown): never {
  throw error instanceof LimiterError ? unavailable(TURN_REFUSALS[error.reason]) : error;
}

/** The code that a driver or the system gave, else null: such an error is a bug. */
export const codeOf = (error: unknown): string | null =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;

/** Node says by text alone that it was TLS. */
const HUNG_UP = 'before secure TLS connection was established';

/** What `code` leaves out. */
export const ofConnecting = (error: unknown, code: string): string =>
  error instanceof Error && error.message.includes(HUNG_UP)
    ? `${code} while TLS was agreed on: the address asks for TLS, which the server may not have`
    : code;

interface TlsFault {
  readonly codes: RegExp;
  /** What Node says beside the code, where a driver puts a code of its own in its place. */
  readonly says?: RegExp;
  readonly why: string;
}

/** The first match counts. What is corrected at the server needs no restart. */
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

/** Why TLS was not agreed on, with what an operator can do, to be said of a server. Null where it is not that. */
export function tlsFault(error: unknown): string | null {
  const code = codeOf(error);
  if (code === null || !(error instanceof Error)) return null;
  // The server may have gone meanwhile
  if (error.message.includes(HUNG_UP)) return null;
  const fault = TLS_FAULTS.find(({ codes, says }) => codes.test(code) || says?.test(error.message));
  return fault?.why.replace('#', code) ?? null;
}

/** A client and a server of which only one speaks TLS wait for each other, or hang up. */
const PERHAPS_TLS: readonly string[] = ['ETIMEDOUT', 'ECONNRESET'];

/** What connecting failed with: no call was under way. */
export function unconnected(server: string, error: unknown, reason: string): ServerError {
  const fault = tlsFault(error);
  if (fault !== null)
    return new ServerError('storage_unavailable', server, fault, { trouble: 'rejected', cause: error });
  return unreachable(server, perhapsTls(ofConnecting(error, reason)));
}

export const perhapsTls = (reason: string): string =>
  PERHAPS_TLS.includes(reason) ? `${reason}, which may also be because only one side speaks TLS` : reason;

/** How much was deleted. An unreachable server is swept another time, and keeps nothing else from being swept. */
export const sweptIfReachable = (sweeping: Promise<number>): Promise<number> =>
  sweeping.catch((error: unknown) => {
    if (isUnavailable(error)) return 0;
    throw error;
  });
