/** One request of pack code and its answer, for `ctx.http.safeFetch` and `fetch`. */
import {
  callerHeaders,
  type Egress,
  type EgressDecision,
  EgressError,
  type EgressReason,
  type EgressStream,
  egressError,
} from '@gantry/egress';
import { type ErrorCode, invalid, OpenwopError } from '@gantry/protocol';
import Type, { type Static } from 'typebox';
import type { CallAnswer } from '../../calls/call-journal.ts';
import { contentRoom, type MakeRoom } from '../../calls/content-room.ts';
import { type DataObject, isObject } from '../../calls/data.ts';
import type { ToolLiteral } from '../../calls/define-surface.ts';
import { Bytes } from '../../calls/schema.ts';
import type { ReadCall } from '../../calls/surface-call.ts';
import { assertIssued, type HttpCredentials, readerOf, wantedCredential } from './credential.ts';
import { decoded, encodingsOf } from './decode.ts';

export const HTTP_LIMITS = { maxResponseBodyBytes: 10 * 1024 * 1024, requestTimeoutMs: 30_000 };
const REDIRECTS_MAX = 5;
/** A larger body waits for memory after this many bytes. */
const SMALL_BYTES = 1024 * 1024;

const optional = Type.Optional;
const INIT = {
  method: optional(Type.String({ maxLength: 32 })),
  headers: optional(Type.Record(Type.String(), Type.String())),
  body: optional(Type.Union([Bytes, Type.String()])),
  redirect: optional(Type.Enum(['follow', 'error', 'manual'])),
  credential: optional(Type.Object({ ref: Type.String({ minLength: 1, maxLength: 256 }) })),
};

export const HTTP_INPUT = { url: Type.String(), init: optional(Type.Object(INIT)) };
export const HTTP_OUTPUT = {
  status: Type.Integer(),
  headers: Type.Array(Type.Tuple([Type.String(), Type.String()])),
  body: Bytes,
  url: Type.String(),
  redirected: Type.Boolean(),
};
const Input = Type.Object(HTTP_INPUT);
const Output = Type.Object(HTTP_OUTPUT);
export type HttpInput = Static<typeof Input>;
export type HttpAnswer = Static<typeof Output>;

/** RFC 9110, 9.2.1 */
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

const methodOf = ({ init }: DataObject | HttpInput): string =>
  isObject(init) && typeof init.method === 'string' ? init.method.toUpperCase() : 'GET';

/** Statuses of temporary failures: the server requests a retry, or failed itself. */
const mayPass = (status: unknown): boolean =>
  status === 408 || status === 425 || status === 429 || (typeof status === 'number' && status >= 500);

const HOST_MAX = 255;
const hostOf = (url: unknown): string => (URL.parse(String(url))?.host ?? '').slice(0, HOST_MAX);

/** How calls of `name` are reported and repeated. */
export const httpTool = (name: string): ToolLiteral => ({
  name,
  transport: 'http',
  target: (input) => `${methodOf(input)} ${hostOf(input.url)}`,
  isSafe: (input) => SAFE.has(methodOf(input)),
  mayPass: (answer: CallAnswer) =>
    answer.ok ? isObject(answer.value) && mayPass(answer.value.status) : answer.error.details?.sent !== true,
});

export interface HttpCall extends ReadCall {
  /** Recorded in the log of the run, with the record of the call. */
  readonly decided?: ((decision: EgressDecision) => void) | undefined;
}

export interface Exchange {
  readonly egress: Egress;
  /** For requests that may carry credentials; then identity headers must come from them. */
  readonly credentials?: HttpCredentials | undefined;
  readonly inspect?: HttpCredentials['inspect'] | undefined;
}

/** Rejects with `OpenwopError`; with another error only if the outcome of the request is unknown. */
export async function exchange(
  { egress, credentials, inspect }: Exchange,
  input: HttpInput,
  call: HttpCall,
): Promise<HttpAnswer> {
  const method = methodOf(input);
  const { body, redirect = 'follow' } = input.init ?? {};
  const { tenant, signal, decided: onDecision } = call;
  const { headers, credential } = await identified(input, call, credentials);
  let sent = false;
  try {
    const answer = await egress.stream(input.url, {
      method,
      headers: callerHeaders(Object.entries(headers)),
      ...(body !== undefined && { body }),
      redirects: redirect === 'follow' ? REDIRECTS_MAX : 0,
      tenant,
      signal,
      timeoutMs: HTTP_LIMITS.requestTimeoutMs,
      maxResponseBytes: HTTP_LIMITS.maxResponseBodyBytes,
      onDecision,
      ...(credential && { credential }),
      ...(inspect && { inspect: (url, request) => inspect(tenant, url, request) }),
    });
    sent = true;
    return await answerOf(answer, redirect, contentRoom.for(call));
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    throw refusalOf(sent ? error.afterSending() : error, SAFE.has(method));
  }
}

/** The identity of the request: none, or the credential that it names. */
async function identified({ init = {} }: HttpInput, call: ReadCall, credentials?: HttpCredentials) {
  const { headers: given = {}, credential: named } = init;
  const { wanted, headers } = wantedCredential({ headers: given, credential: named });
  if (!credentials) {
    if (wanted) throw noCredentials();
    return { headers };
  }
  assertIssued(credentials, call.tenant, headers);
  if (!wanted) return { headers };
  return { headers, credential: await credentials.open(readerOf(call), wanted.ref, wanted.placement) };
}

const noCredentials = (): OpenwopError => invalid('`fetch` carries no credentials. Use ctx.http.safeFetch.');

async function answerOf(stream: EgressStream, redirect: string, makeRoom: MakeRoom): Promise<HttpAnswer> {
  const { status, url, redirected } = stream;
  const isRedirect = status >= 300 && status < 400 && stream.headers.has('location');
  const problem =
    redirect === 'error' && isRedirect
      ? egressError('redirect_not_allowed', 'The server redirects.')
      : status > 599
        ? egressError('response_invalid', `There is no status ${status}.`)
        : undefined;
  if (problem) {
    await stream.body.cancel();
    throw problem;
  }
  const raw = await collected(stream.body, makeRoom);
  const encodings = raw.byteLength === 0 ? [] : encodingsOf(stream.headers);
  const body = await decoded(raw, encodings, HTTP_LIMITS.maxResponseBodyBytes);
  const changed = encodings.length > 0;
  const headers = [...stream.headers].filter(
    ([name]) => !(changed && (name === 'content-encoding' || name === 'content-length')),
  );
  return { status, headers, body, url, redirected };
}

async function collected(body: ReadableStream<Uint8Array>, makeRoom: MakeRoom): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    if (bytes <= SMALL_BYTES && bytes + chunk.byteLength > SMALL_BYTES)
      await makeRoom(HTTP_LIMITS.maxResponseBodyBytes);
    bytes += chunk.byteLength;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes);
}

/** Refused before anything is sent, since the request would leave public HTTP. */
const BLOCKED: ReadonlySet<EgressReason> = new Set<EgressReason>([
  'scheme_not_allowed',
  'credentials_in_url',
  'host_not_allowed',
  'address_not_allowed',
  'port_not_allowed',
  'upgrade_not_allowed',
]);

function codeOf(reason: EgressReason): ErrorCode {
  if (reason === 'credential_not_allowed') return 'credential_forbidden';
  return BLOCKED.has(reason) ? 'ssrf_blocked' : 'fetch_failed';
}

/** After an unsafe request was cancelled, its claim stays open: its outcome is in doubt. */
function refusalOf(error: EgressError, isSafe: boolean): Error {
  const { reason, message, code, sent } = error;
  if (reason === 'aborted' && sent && !isSafe) return error;
  const isUnknown = sent && !isSafe;
  const doubt = isUnknown ? ' The server may still have processed the request.' : '';
  return new OpenwopError(codeOf(reason), {
    message: `${message}${doubt}`,
    details: { reason, ...(code !== undefined && { code }), ...(isUnknown && { sent }) },
  });
}
