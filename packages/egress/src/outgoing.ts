/** Checks the headers and body of a caller. Only the client sets framing, routing and connection headers. */
import { type EgressReason, egressError } from './error.ts';

export interface OutgoingOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export interface Outgoing {
  readonly method: string;
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array | undefined;
}

export const REQUEST_BYTES_MAX = 10 * 1024 * 1024;
export const REQUEST_HEADER_BYTES_MAX = 32 * 1024;

export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
const KNOWN: ReadonlySet<string> = new Set(METHODS);
const WITHOUT_BODY: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** Set by the client itself. Values from libraries and packs are dropped, not refused. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'host',
  'keep-alive',
]);
const OWN_HEADERS: ReadonlySet<string> = new Set([
  ...LEFT_OUT,
  'expect',
  'te',
  'trailer',
  'transfer-encoding',
]);

const asksForUpgrade = (name: string, value: string): boolean =>
  name === 'upgrade' ||
  name === 'http2-settings' ||
  name.startsWith('sec-websocket-') ||
  (name === 'connection' && /\bupgrade\b/i.test(value));

/** Headers of a caller that does not know which ones it may set. An upgrade header is kept, to be refused later. */
export const callerHeaders = (given: Iterable<readonly [string, unknown]>): Record<string, string> =>
  Object.fromEntries(
    [...given]
      .map(([name, value]) => [name, String(value)] as const)
      .filter(([name, value]) => {
        const plain = name.toLowerCase();
        return !LEFT_OUT.has(plain) || asksForUpgrade(plain, value);
      }),
  );

const NAME = /^[a-z0-9!#$%&'*+.^_`|~-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

function refuse(happened: string, reason: EgressReason = 'request_not_allowed'): never {
  throw egressError(reason, happened);
}

export function checkHeader(name: string, value: string): void {
  if (!NAME.test(name) || !VALUE.test(value)) refuse('A header is not valid HTTP.');
  if (asksForUpgrade(name, value))
    refuse(`The header ${name} asks for another protocol.`, 'upgrade_not_allowed');
  if (OWN_HEADERS.has(name) || name.startsWith('proxy-'))
    refuse(`The header ${name} is set by the client itself.`);
}

function outgoingHeaders(given: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  let bytes = 0;
  for (const [spelling, value] of Object.entries(given)) {
    const name = spelling.toLowerCase();
    checkHeader(name, value);
    if (headers.has(name)) refuse(`The header ${name} is given twice.`);
    headers.set(name, value);
    bytes += name.length + value.length + 4;
    if (bytes > REQUEST_HEADER_BYTES_MAX) refuse('The headers are too large.');
  }
  return headers;
}

function outgoingBody(body: string | Uint8Array | undefined): Uint8Array | undefined {
  if (body === undefined) return undefined;
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  if (bytes.byteLength > REQUEST_BYTES_MAX) refuse('The body is too large.');
  return bytes;
}

export function outgoing(options: OutgoingOptions): Outgoing {
  const method = options.method ?? 'GET';
  if (method === 'CONNECT') refuse('The method CONNECT opens a tunnel.', 'upgrade_not_allowed');
  if (!KNOWN.has(method)) refuse('The method is not one of the usual ones.');
  if (options.body !== undefined && WITHOUT_BODY.has(method)) refuse(`A ${method} request has no body.`);
  return { method, headers: outgoingHeaders(options.headers ?? {}), body: outgoingBody(options.body) };
}
