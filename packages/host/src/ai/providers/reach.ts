/** The way to a provider: egress judges the destination and puts the key in, which no library ever sees. */
import { KEY_PLACES, ModelFailure, type Reach } from '@gantry/ai';
import { type Egress, type EgressDecision, EgressError, egressFetch } from '@gantry/egress';
import { OpenwopError, type Owner } from '@gantry/protocol';
import type { Credentials, CredentialUse } from '../../credentials/credentials.ts';

/** Long answers of models that think, and videos, take minutes. Silence ends an answer earlier. */
const TIMEOUT_MS = 15 * 60_000;
const RESPONSE_BYTES_MAX = 64 * 1024 * 1024;

export interface ReachOptions {
  readonly egress: Pick<Egress, 'stream'>;
  readonly credentials: Pick<Credentials, 'open'>;
  readonly baseUrl: string;
  readonly owner: Owner;
  /** None for providers that take no key. */
  readonly key?: { readonly ref: string; readonly placement: NonNullable<CredentialUse['placement']> };
  /** Reported instead of the destination, where that is not to be shown. */
  readonly destination?: string;
}

export interface Io extends Pick<Reach, 'signal' | 'idempotencyKey'> {
  /** What was decided about the key, before it is sent. */
  readonly onDecision?: (decision: EgressDecision) => void | Promise<void>;
  readonly timeoutMs?: number;
}

export function reachOf(options: ReachOptions, { signal, idempotencyKey, onDecision, timeoutMs }: Io): Reach {
  const { egress, credentials, baseUrl, owner, key, destination } = options;
  const told = destination === undefined ? {} : { destination };
  return {
    baseUrl,
    signal,
    idempotencyKey,
    // Read anew for each request, so that revoking and rotating hold at once
    fetch: async (input, init) => {
      const credential =
        key &&
        (await credentials.open(owner, key.ref, { placement: key.placement }).catch(unusable(key.ref)));
      const fetch = egressFetch(egress, {
        tenant: owner.tenant,
        timeoutMs: timeoutMs ?? TIMEOUT_MS,
        maxResponseBytes: RESPONSE_BYTES_MAX,
        ...(credential && { credential }),
        ...(onDecision && { onDecision: (decision) => onDecision({ ...decision, ...told }) }),
      });
      return fetch(input, credential ? init : { ...init, headers: withoutKey(init?.headers) }).catch(refused);
    },
  };
}

const KEY_HEADERS = Object.values(KEY_PLACES).map(({ header }) => header);

/** A library insists on a key; who takes none gets none. */
function withoutKey(given: RequestInit['headers']): Headers {
  const headers = new Headers(given);
  for (const name of KEY_HEADERS) headers.delete(name);
  return headers;
}

/** What egress does not allow it does not allow a moment later either. Its message would name the host. */
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
    throw new ModelFailure('key-rejected', `The credential ${ref} cannot be used (${error.code}).`);
  };
