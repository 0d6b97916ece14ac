import type { CreateKeyRequest, KeySummary, NewKey } from '@gantry/protocol';
import { createCalls } from './calls.ts';
import { randomKey, type Transport } from './transport.ts';

/** For host admins: keys of another tenant. */
export interface OfTenant {
  tenant?: string;
}

export interface Keys {
  list(options?: OfTenant): Promise<KeySummary[]>;
  create(request: CreateKeyRequest): Promise<NewKey>;
  /** Creates a new key in place of an old one, which stays valid for the grace time. */
  rotate(keyId: string, options?: OfTenant & { graceSeconds?: number }): Promise<NewKey>;
  revoke(keyId: string, options?: OfTenant): Promise<void>;
}

const KEYS = '/v1/host/gantry/keys';

/** A key is shown once: a repeat of a request whose answer was lost is refused with that reason. */
export function createKeys(transport: Transport): Keys {
  const { read, send } = createCalls(transport);
  const keyPath = (keyId: string) => `${KEYS}/${encodeURIComponent(keyId)}`;
  return {
    list: async ({ tenant } = {}) => (await read<{ keys: KeySummary[] }>(KEYS, { tenant })).keys,
    create: (request) => send(KEYS, request),
    rotate: (keyId, { tenant, ...body } = {}) =>
      transport.request({
        method: 'POST',
        path: `${keyPath(keyId)}/rotate`,
        query: { tenant },
        body,
        headers: { 'idempotency-key': randomKey() },
      }),
    async revoke(keyId, { tenant } = {}) {
      await transport.request({ method: 'DELETE', path: keyPath(keyId), query: { tenant } });
    },
  };
}
