import type { JsonObject } from '@gantry/protocol';

/** Codes of this client; all others come from the host. */
export type ClientErrorCode = 'host_unreachable' | 'host_timeout' | 'bad_response';

export interface ApiErrorFacts {
  status: number;
  code: string;
  message: string;
  details?: JsonObject | undefined;
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/** Every failure of a call. `status` is 0 if no answer arrived. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: JsonObject | undefined;
  /** The delay that the host requests before the same request is sent again. */
  readonly retryAfterMs: number | undefined;

  constructor(facts: ApiErrorFacts) {
    super(facts.message, { cause: facts.cause });
    this.name = 'ApiError';
    this.status = facts.status;
    this.code = facts.code;
    this.details = facts.details;
    this.retryAfterMs = facts.retryAfterMs;
  }
}

export function unreachable(baseUrl: string, cause: unknown): ApiError {
  return new ApiError({
    status: 0,
    code: 'host_unreachable',
    message:
      `Cannot reach the host at ${baseUrl} (${rootCause(cause)}). Is it running? ` +
      'Start it with `gantry start`, or use the URL it printed when it started.',
    cause,
  });
}

export function timedOut(baseUrl: string, timeoutMs: number): ApiError {
  return new ApiError({
    status: 0,
    code: 'host_timeout',
    message:
      `The host at ${baseUrl} did not answer within ${timeoutMs / 1000} s. ` +
      'It may be overloaded: check `gantry doctor` and the host log.',
  });
}

export function badResponse(status: number, problem: string): ApiError {
  return new ApiError({
    status,
    code: 'bad_response',
    message: `${problem} Check that the URL is that of an OpenWOP host, without /v1.`,
  });
}

/** Converts a non-2xx answer to an error; an answer without the envelope did not come from a host. */
export async function failureOf(response: Response): Promise<ApiError> {
  const text = await response.text();
  const envelope = parseEnvelope(text);
  if (!envelope) {
    return badResponse(response.status, `Got HTTP ${response.status} without an OpenWOP error body.`);
  }
  return new ApiError({
    status: response.status,
    code: envelope.error,
    message: envelope.message,
    details: envelope.details,
    retryAfterMs: retryAfterMs(response, envelope.details),
  });
}

interface Envelope {
  error: string;
  message: string;
  details?: JsonObject;
}

function parseEnvelope(text: string): Envelope | undefined {
  try {
    const body = JSON.parse(text);
    return typeof body?.error === 'string' && typeof body.message === 'string' ? body : undefined;
  } catch {
    return undefined;
  }
}

function retryAfterMs(response: Response, details: JsonObject | undefined): number | undefined {
  const header = response.headers.get('retry-after');
  if (header !== null && /^\d+$/.test(header)) return Number(header) * 1000;
  return typeof details?.retryAfter === 'number' ? details.retryAfter * 1000 : undefined;
}

/** `fetch` hides the reason (`ECONNREFUSED`) in a chain of causes. */
function rootCause(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return rootCause(error.cause);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  return code ?? error.message;
}
