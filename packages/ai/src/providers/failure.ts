/** Maps the failure responses of providers, in each of their dialects, to our failures. */
import { ModelFailure, type ModelFailureFacts, type ModelFailureKind } from '../model.ts';

const TEXT_MAX = 300;
const CODE = /^[A-Za-z][\w.-]{0,63}$/;

const TOO_LONG =
  /context[ _](length|window|size|limit)|maximum context|too many tokens|prompt is too long|input token count|exceeds the maximum number of tokens|input is too long/i;
const OUT_OF_QUOTA = /insufficient_quota|credit balance|billing|exceeded your current quota.*plan/i;
const BAD_KEY =
  /api[ _-]?key[ _](not valid|invalid|expired)|API_KEY_INVALID|invalid_api_key|authentication_error/i;
const NO_MODEL = /model_not_found|model .{1,100} (not found|does not exist|is not found)/i;

/** The facts in a body, wherever its dialect has them. Never more than a line of it. */
interface Told {
  readonly code?: string;
  /** Codes, types and reasons, for matching. */
  readonly words: string;
  readonly message: string;
  readonly retryAfterMs?: number;
}

type Members = Readonly<Record<string, unknown>>;
const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {};
const textIn = (value: unknown): string => (typeof value === 'string' ? value : '');

/** @example told({ error: { code: 'context_length_exceeded', message: '...' } }).code */
function told(body: unknown): Told {
  // Gemini sends a list of one if a stream was requested
  const outer = membersOf(Array.isArray(body) ? body[0] : body);
  const named = outer.error ?? membersOf(outer.response).error ?? outer;
  const error = membersOf(named);
  const details = Array.isArray(error.details) ? error.details.map(membersOf) : [];
  const words = [error.code, error.type, error.status, ...details.map(({ reason }) => reason)].map(textIn);
  const delay = details.map(({ retryDelay }) => textIn(retryDelay)).find((text) => text !== '');
  const code = words.find((word) => CODE.test(word));
  const message = textIn(error.message) || textIn(named) || textIn(outer.message);
  return {
    words: words.join(' '),
    message: message.replace(/\s+/g, ' ').slice(0, TEXT_MAX),
    ...(code !== undefined && { code }),
    ...(delay?.endsWith('s') && { retryAfterMs: Math.ceil(Number.parseFloat(delay) * 1_000) }),
  };
}

function kindOf(status: number | undefined, { words, message }: Told): ModelFailureKind {
  const all = `${words} ${message}`;
  if (TOO_LONG.test(all) || status === 413) return 'too-long';
  if (OUT_OF_QUOTA.test(all) || status === 402) return 'quota';
  if (BAD_KEY.test(all) || status === 401 || status === 403) return 'key-rejected';
  if (status === 404 || NO_MODEL.test(all)) return 'unknown-model';
  if (status === 429 || status === 503 || status === 529) return 'limited';
  return status === undefined || status === 408 || status === 409 || status >= 500 ? 'broken' : 'rejected';
}

const SAYS: Record<ModelFailureKind, string> = {
  'not-sent': 'The provider could not be reached.',
  limited: 'The provider limits requests or is overloaded.',
  broken: 'The provider failed.',
  quota: 'The account at the provider has nothing left to spend.',
  'key-rejected': 'The provider rejected the key.',
  'too-long': 'The request exceeds the context of the model.',
  'unknown-model': 'The provider has no such model.',
  rejected: 'The provider rejected the request.',
};
/** Some providers repeat a part of a rejected key. */
const SILENT: ReadonlySet<ModelFailureKind> = new Set(['key-rejected']);

function failure(kind: ModelFailureKind, message: string, facts: ModelFailureFacts): ModelFailure {
  const where = facts.status === undefined ? '' : ` It answered ${facts.status}.`;
  const quoted = message === '' || SILENT.has(kind) ? '' : ` It says: ${message}`;
  return new ModelFailure(kind, `${SAYS[kind]}${where}${quoted}`, facts);
}

const BODY_MAX = 64 * 1024;

/** The failure for a response other than 2xx. */
export async function failureOfResponse(response: Response): Promise<ModelFailure> {
  const { status, headers } = response;
  const body = told(jsonOf(await startOf(response)));
  const retryAfterMs = retryAfter(headers) ?? body.retryAfterMs;
  return failure(kindOf(status, body), body.message, { status, retryAfterMs, code: body.code });
}

/**
 * The failure that a stream reports within a successful response. A request to wait is `broken` here, since the
 * attempt has already cost something.
 */
export function failureOfPart(error: unknown): ModelFailure {
  if (error instanceof ModelFailure) return error;
  const data = membersOf(error).data ?? membersOf(error).responseBody ?? error;
  const body = told(typeof data === 'string' ? (jsonOf(data) ?? data) : data);
  const kind = kindOf(
    undefined,
    error instanceof Error && body.words === '' ? { ...body, message: '' } : body,
  );
  // An error of a library may quote the request
  return failure(kind, error instanceof Error ? '' : body.message, { code: body.code });
}

/** The failure that the transport reported; `sent` and `reason` are those of egress. */
export function failureOfTransport(error: unknown): ModelFailure {
  if (error instanceof ModelFailure) return error;
  // Messages contain host names, and the address of an operator's endpoint is confidential
  const { sent, reason } = membersOf(error);
  return failure(sent === false ? 'not-sent' : 'broken', '', { code: textIn(reason) || undefined });
}

async function startOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of response.body ?? []) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > BODY_MAX) break;
    }
  } catch {
    // The part that arrived and the status are enough
  }
  return Buffer.concat(chunks).toString('utf8');
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function retryAfter(headers: Headers): number | undefined {
  const exact = Number(headers.get('retry-after-ms') ?? Number.NaN);
  if (exact >= 0) return exact;
  const text = headers.get('retry-after');
  if (text === null) return undefined;
  const seconds = Number(text);
  const ms = Number.isNaN(seconds) ? Date.parse(text) - Date.now() : seconds * 1_000;
  return Number.isFinite(ms) ? Math.max(0, Math.ceil(ms)) : undefined;
}
