/** Requests to a registry, with the next step for each error. */
import { EgressError } from '@gantry/egress';
import { isRegistryAddress } from '@gantry/packs';
import { ERRORS, type Json, type JsonObject } from '@gantry/protocol';
import type { Call } from '../../command.ts';
import { UsageError } from '../../io.ts';
import { egressOf, namedRegistries } from '../pack/registries.ts';

const TIMEOUT_MS = 60_000;
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;

export interface RegistryRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  /** Bytes are sent unchanged, with the content type in `headers`. */
  readonly body?: JsonObject | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** A key is optional; with it private packs are visible. */
  readonly isOpen?: true;
  readonly timeoutMs?: number;
  /** Next steps that only the command knows, by error code. */
  readonly next?: Readonly<Record<string, string>>;
}

const NEXT: Readonly<Record<string, string>> = {
  unauthenticated:
    'Set GANTRY_REGISTRY_KEY to a key of this registry; it printed one at its first start. Keys of hosts do not work.',
  forbidden:
    'Use a key with the scope this needs, of the owner of the namespace: gantry keys create NAME --scopes packs:publish,packs:yank --url REGISTRY',
  unpublish_window_expired: 'Withdraw it instead: gantry registry yank NAME@VERSION --reason TEXT',
};

export function registryOf(call: Pick<Call, 'args' | 'io'>): string {
  const [first] = namedRegistries(call);
  if (first === undefined)
    throw new UsageError('Name the registry: --registry http://127.0.0.1:7071 or GANTRY_REGISTRY_URL.');
  if (isRegistryAddress(first)) return first.replace(/\/+$/, '').replace(/\/v1$/, '');
  throw new UsageError(`This command needs the address of a running registry; ${first} is a folder.`);
}

const givenKey = ({ args, io }: Call): string | undefined => args.text('key') ?? io.env.GANTRY_REGISTRY_KEY;

export function keyOf(call: Call): string {
  const key = givenKey(call);
  if (key) return key;
  throw new UsageError('Set GANTRY_REGISTRY_KEY to a key of the registry.');
}

/** The JSON of the response. */
export const askRegistry = async <T extends Json>(call: Call, request: RegistryRequest): Promise<T> =>
  (await sendToRegistry(call, request)).value as T;

/** All requests are idempotent. */
export async function sendToRegistry(
  call: Call,
  request: RegistryRequest,
): Promise<{ status: number; value: Json }> {
  const registry = registryOf(call);
  const { method, path, body, isOpen, timeoutMs = TIMEOUT_MS, next = {} } = request;
  const key = isOpen ? givenKey(call) : keyOf(call);
  const { status, body: answer } = await egressOf(call.io)
    .for('registry', [registry])
    .request(registry + path, {
      method,
      headers: {
        accept: 'application/json',
        ...(key && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...request.headers,
      },
      ...(body !== undefined && {
        body: body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body)),
      }),
      timeoutMs,
      maxResponseBytes: ANSWER_BYTES_MAX,
      signal: call.io.signal,
    })
    .catch((error: unknown) => {
      call.io.signal.throwIfAborted();
      if (!(error instanceof EgressError)) throw error;
      throw new UsageError(
        `Cannot reach the registry ${registry}: ${error.message}\nIs it running? gantry registry start`,
        'host_unreachable',
      );
    });
  const value = jsonIn(answer);
  if (status >= 200 && status < 300 && value !== undefined) return { status, value };
  throw refusal(registry, status, value, { ...NEXT, ...next });
}

function jsonIn(answer: Uint8Array): Json | undefined {
  try {
    return JSON.parse(Buffer.from(answer).toString('utf8'));
  } catch {
    return undefined;
  }
}

function refusal(
  registry: string,
  status: number,
  answer: Json | undefined,
  next: Readonly<Record<string, string>>,
): UsageError {
  const { error, message, details } =
    answer !== null && typeof answer === 'object' && !Array.isArray(answer) ? answer : {};
  if (typeof error !== 'string' || typeof message !== 'string')
    return new UsageError(
      `${registry} answered ${status}, with a body that is not from a Gantry registry. Check the address; a static registry has no write API.`,
    );
  const known = Object.entries(ERRORS).find(([code]) => code === error)?.[1].next ?? '';
  // The next step of the catalogue is printed once, or replaced by that of the command
  const happened = message.endsWith(known) ? message.slice(0, message.length - known.length).trim() : message;
  const text = `The registry refused (${error}): ${happened}\n${next[error] ?? known}`.trimEnd();
  return new UsageError(text, error, details as JsonObject | undefined);
}
