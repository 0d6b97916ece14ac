/** A server that is not there, and one that is there and will not do: waiting mends the first alone. */
import { type ErrorCode, OpenwopError } from '@gantry/protocol';

export type UnavailableCode = Extract<ErrorCode, 'storage_unavailable' | 'queue_backend_unavailable'>;

/** What is the matter with a server. */
export type Trouble =
  /** It is not there, or cannot for now: waiting mends it. */
  | 'away'
  /** It answers, and refuses as it and its setting are now, such as a wrong password: someone has to mend that. */
  | 'refused'
  /** The same, and it stops a start. What shows up only later is the health problem, and the answer to every call. */
  | 'refused for good';

export const stateOf = (trouble: Trouble): 'away' | 'refused' => (trouble === 'away' ? 'away' : 'refused');

export interface ServerErrorOptions {
  readonly trouble?: Trouble;
  /** What is to be said beside the rest to who wrote, and to nobody else. */
  readonly toWriter?: string;
  readonly cause?: unknown;
}

/** Names the server to the operator, and to pack code only what it is: where it stands is nobody else's business. */
export class ServerError extends OpenwopError {
  declare readonly code: UnavailableCode;
  readonly trouble: Trouble;
  readonly #server: string;
  readonly #rest: string;
  readonly #toWriter: string;

  /** `server`: `Redis at 127.0.0.1:6379`, never with a password. `rest` is what is to be said of it. */
  constructor(
    code: UnavailableCode,
    server: string,
    rest: string,
    { trouble = 'away', toWriter = '', cause }: ServerErrorOptions = {},
  ) {
    super(code, { message: textOf(server, rest, toWriter), cause });
    this.trouble = trouble;
    this.#server = server;
    this.#rest = rest;
    this.#toWriter = toWriter;
  }

  forPack(): OpenwopError {
    const message = textOf(this.#server.replace(/ at .*$/s, ''), this.#rest, this.#toWriter);
    return new OpenwopError(this.code, { message });
  }

  /** The same under the code of another surface. */
  as(code: UnavailableCode): ServerError {
    return this.#changed({ code });
  }

  /** The same for who wrote nothing. */
  toReader(): ServerError {
    return this.#changed({ toWriter: '' });
  }

  /** The same of a server that the operator knows by another name than its address. */
  at(place: string): ServerError {
    return this.#changed({ server: `${this.#server} at ${place}` });
  }

  #changed(to: { code?: UnavailableCode; server?: string; toWriter?: string }): ServerError {
    const { trouble, cause } = this;
    const { code = this.code, server = this.#server, toWriter = this.#toWriter } = to;
    return new ServerError(code, server, this.#rest, { trouble, toWriter, cause });
  }
}

const textOf = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join(' ');

/** No call was under way there. */
export const unreachable = (code: UnavailableCode, server: string, reason: string): ServerError =>
  new ServerError(
    code,
    server,
    `cannot be reached (${reason}). Nothing was changed; the next call tries it again.`,
  );

export const refused = (code: UnavailableCode, server: string, why: string, cause?: unknown): ServerError =>
  new ServerError(code, server, why, { trouble: 'refused for good', cause });

/** While a call was under way that is safe to repeat. */
export const lost = (server: string, reason: string, cause: unknown): ServerError =>
  new ServerError('storage_unavailable', server, `cannot be used for now (${reason}). Try again later.`, {
    toWriter: 'Whether the last write was kept is not known; asking again is safe.',
    cause,
  });

/** A read changes nothing, and so leaves nothing in doubt. */
export const toReader = <E>(error: E): E | ServerError =>
  error instanceof ServerError ? error.toReader() : error;

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
