/** Access to a provider: egress checks the destination and adds the key, which no library ever sees. */
import { KEY_PLACES, ModelFailure, type Reach } from '@gantry/ai';
import { type Egress, type EgressDecision, EgressError, egressFetch } from '@gantry/egress';
import { OpenwopError, type Owner } from '@gantry/protocol';
import type { Credentials, CredentialUse } from '../../credentials/credentials.ts';

/** Long answers of reasoning models, and videos, take minutes. An idle timeout ends an answer earlier. */
const TIMEOUT_MS = 15 * 60_000;
const RESPONSE_BYTES_MAX = 64 * 1024 * 1024;

export interface ReachOptions {
  readonly egress: Pick<Egress, 'stream'>;
  readonly credentials: Pick<Credentials, 'open'>;
  readonly baseUrl: string;
  readonly silenceMs?: number;
  readonly owner: Owner;
  /** Missing for providers that need no key. */
  readonly key?: { readonly ref: string; readonly placement: NonNullable<CredentialUse['placement']> };
  /** Reported instead of the destination, if that must not be shown. */
  readonly destination?: string;
}

export interface Io extends Pick<Reach, 'signal' | 'idempotencyKey'> {
  /** The decision about the key, before it is sent. */
  readonly onDecision?: (decision: EgressDecision) => void | Promise<void>;
  /** Called when a request goes out: from then on it may cost something. */
  readonly onSend?: () => void;
  readonly timeoutMs?: number;
}

export function reachOf(
  options: ReachOptions,
  { signal, idempotencyKey, onDecision, onSend, timeoutMs }: Io,
): Reach {
  const { egress, credentials, baseUrl, silenceMs, owner, key, destination } = options;
  const told = destination === undefined ? {} : { destination };
  return {
    baseUrl,
    signal,
    idempotencyKey,
    tenant: owner.tenant,
    ...(silenceMs !== undefined && { silenceMs }),
    // Read again for each request, so that revocation and rotation apply immediately
    fetch: async (input, init) => {
      const credential =
        key &&
        (await credentials.open(owner, key.ref, { placement: key.placement }).catch(unusable(key.ref)));
      const fetch = egressFetch(egress, {
        tenant: owner.tenant,
        timeoutMs: timeoutMs ?? TIMEOUT_MS,
        maxResponseBytes: RESPONSE_BYTES_MAX,
        ...(credential && { credential }),
        ...(onSend && { onSend }),
        ...(onDecision && { onDecision: (decision) => onDecision({ ...decision, ...told }) }),
      });
      return fetch(input, credential ? init : { ...init, headers: withoutKey(init?.headers) }).catch(refused);
    },
  };
}

const KEY_HEADERS = Object.values(KEY_PLACES).map(({ header }) => header);

/** Libraries always send a key; a provider that needs none must not get it. */
function withoutKey(given: RequestInit['headers']): Headers {
  const headers = new Headers(given);
  for (const name of KEY_HEADERS) headers.delete(name);
  return headers;
}

/** A denial by egress is permanent, so it is not retried. Its message is replaced because it names the host. */
function refused(error: unknown): never {
  if (!(error instanceof EgressError) || !error.reason.endsWith('_not_allowed')) throw error;
  if (error.reason === 'credential_not_allowed')
    throw new ModelFailure('key-rejected', 'The audiences of the credential do not include this provider.');
  throw new ModelFailure('rejected', `Egress does not allow the request (${error.reason}).`);
}

const unusable =
  (ref: string) =>
  (error: unknown): never => {
    if (!(error instanceof OpenwopError)) throw error;
    throw new ModelFailure('key-rejected', `The credential ${ref} cannot be used: ${error.message}`);
  };
