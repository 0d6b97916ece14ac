import type { Json } from '@gantry/protocol';
import { badResponse, failureOf, timedOut, unreachable } from './error.ts';
import { type RetryPolicy, withRetry } from './retry.ts';

export type Fetch = typeof globalThis.fetch;
export type Query = Readonly<Record<string, string | number | undefined>>;

export interface RequestSpec {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  query?: Query;
  /** Bytes are sent unchanged, with the content type in `headers`; everything else as JSON. */
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal | undefined;
  timeoutMs?: number;
}

export interface Transport {
  readonly baseUrl: string;
  /**
   * Sends, retries temporary failures, and parses the JSON answer. A request that creates something has an
   * `Idempotency-Key`, so that a retry never creates a second one.
   */
  request<T>(spec: RequestSpec): Promise<T>;
  /** Sends once and returns the open response; no time limit. */
  open(spec: RequestSpec): Promise<Response>;
}

export interface TransportOptions {
  baseUrl: string;
  apiKey: string | undefined;
  fetch: Fetch;
  retry: RetryPolicy;
}

const REQUEST_TIMEOUT_MS = 30_000;

export function createTransport(options: TransportOptions): Transport {
  const baseUrl = normalBaseUrl(options.baseUrl);

  async function open(spec: RequestSpec): Promise<Response> {
    const response = await send(spec);
    if (!response.ok) throw await failureOf(response);
    return response;
  }

  async function send(spec: RequestSpec): Promise<Response> {
    try {
      return await options.fetch(urlOf(baseUrl, spec), {
        method: spec.method,
        headers: headersOf(spec, options.apiKey),
        // A redirected POST would arrive as a GET: report that the URL is wrong instead.
        redirect: 'manual',
        ...(spec.body !== undefined && { body: bodyOf(spec.body) }),
        ...(spec.signal && { signal: spec.signal }),
      });
    } catch (error) {
      spec.signal?.throwIfAborted();
      throw unreachable(baseUrl, error);
    }
  }

  async function attempt<T>(spec: RequestSpec): Promise<T> {
    const timeoutMs = spec.timeoutMs ?? REQUEST_TIMEOUT_MS;
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = spec.signal ? AbortSignal.any([spec.signal, timeout]) : timeout;
    try {
      const response = await open({ ...spec, signal });
      return parseJson<T>(response.status, await readText(baseUrl, response));
    } catch (error) {
      spec.signal?.throwIfAborted();
      if (timeout.aborted) throw timedOut(baseUrl, timeoutMs);
      throw error;
    }
  }

  return {
    baseUrl,
    open,
    request: (spec) => withRetry(options.retry, spec.signal, () => attempt(spec)),
  };
}

/** A truncated answer is a connection failure like any other. */
async function readText(baseUrl: string, response: Response): Promise<string> {
  try {
    return await response.text();
  } catch (error) {
    throw unreachable(baseUrl, error);
  }
}

function parseJson<T>(status: number, text: string): T {
  try {
    const value: Json = text === '' ? null : JSON.parse(text);
    return value as T;
  } catch {
    throw badResponse(status, `Got HTTP ${status} with a body that is not JSON.`);
  }
}

function normalBaseUrl(baseUrl: string): string {
  if (!URL.canParse(baseUrl) || !/^https?:/.test(baseUrl)) {
    throw badResponse(0, `"${baseUrl}" is not an http(s) URL.`);
  }
  return baseUrl.replace(/\/+$/, '');
}

function urlOf(baseUrl: string, spec: RequestSpec): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(spec.query ?? {})) {
    if (value !== undefined) query.set(name, String(value));
  }
  return query.size === 0 ? baseUrl + spec.path : `${baseUrl}${spec.path}?${query}`;
}

const bodyOf = (body: unknown): string | Uint8Array<ArrayBuffer> =>
  isBytes(body) ? body : JSON.stringify(body);

const isBytes = (body: unknown): body is Uint8Array<ArrayBuffer> => body instanceof Uint8Array;

function headersOf(spec: RequestSpec, apiKey: string | undefined): Record<string, string> {
  return {
    accept: 'application/json',
    ...(spec.body !== undefined && { 'content-type': 'application/json' }),
    ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
    ...spec.headers,
  };
}

/** 128 random bits. Not `randomUUID`: browsers lack it on plain-HTTP pages. */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
