/** A server that is not there, and one that is there and will not do: waiting mends the first alone. */
import { type ErrorCode, OpenwopError } from '@gantry/protocol';

export type UnavailableCode = Extract<ErrorCode, 'storage_unavailable' | 'queue_backend_unavailable'>;

/** Names the server to the operator, and to pack code only what it is: where it stands is nobody else's business. */
export class ServerError extends OpenwopError {
  readonly #server: string;
  readonly #rest: string;

  /** `server`: `Redis at 127.0.0.1:6379`, never with a password. `rest` is what is to be said of it. */
  constructor(code: UnavailableCode, server: string, rest: string, cause?: unknown) {
    super(code, { message: `${server} ${rest}`, cause });
    this.#server = server;
    this.#rest = rest;
  }

  forPack(): OpenwopError {
    return new OpenwopError(this.code, { message: `${this.#server.replace(/ at .*$/s, '')} ${this.#rest}` });
  }

  /** The same under the code of another surface. */
  as(code: UnavailableCode): ServerError {
    const Kind = this instanceof BackendRefusal ? BackendRefusal : ServerError;
    return new Kind(code, this.#server, this.#rest, this.cause);
  }
}

/**
 * The server answers, and refuses as it and its setting are now: a wrong password, a schema that is too new. It stops
 * a start; what shows up only later is the health problem, and the answer to every call.
 */
export class BackendRefusal extends ServerError {}

/** No call was under way there. */
export const unreachable = (code: UnavailableCode, server: string, reason: string): ServerError =>
  new ServerError(
    code,
    server,
    `cannot be reached (${reason}). Nothing was changed; the next call tries it again.`,
  );

export const refused = (code: UnavailableCode, server: string, why: string): BackendRefusal =>
  new BackendRefusal(code, server, why);

/** While a call was under way that is safe to repeat. */
export const lost = (server: string, reason: string, cause: unknown): ServerError =>
  new ServerError(
    'storage_unavailable',
    server,
    `cannot be used for now (${reason}). Whether the last write was kept is not known; asking again is safe. ` +
      'Try again later.',
    cause,
  );

const UNAVAILABLE: readonly string[] = ['storage_unavailable', 'queue_backend_unavailable'];

export const isUnavailable = (error: unknown): error is OpenwopError =>
  error instanceof OpenwopError && UNAVAILABLE.includes(error.code);

/** The code that a driver or the system gave, else null: such an error is a bug. */
export const codeOf = (error: unknown): string | null =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;

/** What `code` leaves out: Node says by text alone that it was TLS. */
export const ofConnecting = (error: unknown, code: string): string =>
  error instanceof Error && error.message.includes('before secure TLS connection was established')
    ? `${code} while TLS was agreed on: the address asks for TLS, which the server may not have`
    : code;

/** How much was deleted. A server that is away is swept another time, and keeps nothing else from being swept. */
export const sweptUnlessAway = (sweeping: Promise<number>): Promise<number> =>
  sweeping.catch((error: unknown) => {
    if (isUnavailable(error)) return 0;
    throw error;
  });
