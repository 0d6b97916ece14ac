import { randomKey, type Transport } from './transport.ts';

export interface KeySummary {
  keyId: string;
  name: string;
  tenant: string;
  scopes: string[];
  createdAt: string;
  expiresAt?: string;
  revokedAt?: string;
}

/** The only time the key itself is shown. */
export interface NewKey extends KeySummary {
  key: string;
}

export interface CreateKeyRequest {
  name: string;
  scopes: readonly string[];
  tenant?: string;
  test?: boolean;
  expiresInSeconds?: number;
}

/** Keys of another tenant are for host admins. */
export interface OfTenant {
  tenant?: string;
}

export interface Keys {
  list(options?: OfTenant): Promise<KeySummary[]>;
  create(request: CreateKeyRequest): Promise<NewKey>;
  /** A new key in place of an old one, which stays valid for the grace time. */
  rotate(keyId: string, options?: OfTenant & { graceSeconds?: number }): Promise<NewKey>;
  revoke(keyId: string, options?: OfTenant): Promise<void>;
}

const KEYS = '/v1/host/gantry/keys';

/** A key is shown once: a repeat of a request whose answer was lost is refused and says so. */
export function createKeys(transport: Transport): Keys {
  const keyPath = (keyId: string) => `${KEYS}/${encodeURIComponent(keyId)}`;
  const once = () => ({ 'idempotency-key': randomKey() });
  return {
    async list({ tenant } = {}) {
      const spec = { method: 'GET', path: KEYS, query: { tenant } } as const;
      return (await transport.request<{ keys: KeySummary[] }>(spec)).keys;
    },
    create: (request) => transport.request({ method: 'POST', path: KEYS, body: request, headers: once() }),
    rotate: (keyId, { tenant, ...body } = {}) =>
      transport.request({
        method: 'POST',
        path: `${keyPath(keyId)}/rotate`,
        query: { tenant },
        body,
        headers: once(),
      }),
    async revoke(keyId, { tenant } = {}) {
      await transport.request({ method: 'DELETE', path: keyPath(keyId), query: { tenant } });
    },
  };
}
