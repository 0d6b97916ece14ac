import { type Query, randomKey, type Transport } from './transport.ts';

/** Options of any call. */
export interface CallOptions {
  signal?: AbortSignal;
}

/** For calls that change something. */
export interface CreateOptions extends CallOptions {
  /** Default: a random key, so that a retry has no second effect. */
  idempotencyKey?: string;
}

export interface UpdateOptions extends CreateOptions {
  /** Only at this version of the item. Default: the current one. */
  version?: number;
}

export interface Calls {
  read<T>(path: string, query?: Query, options?: CallOptions): Promise<T>;
  send<T>(path: string, body: unknown, options?: CreateOptions): Promise<T>;
  update<T>(path: string, body: unknown, options?: UpdateOptions): Promise<T>;
  remove<T>(path: string, options?: CreateOptions): Promise<T>;
}

/** Calls that change something have an `Idempotency-Key`; reads do not need one. */
export function createCalls(transport: Transport): Calls {
  const once = ({ idempotencyKey = randomKey() }: CreateOptions) => ({ 'idempotency-key': idempotencyKey });
  return {
    read: (path, query = {}, { signal } = {}) => transport.request({ method: 'GET', path, query, signal }),
    send: (path, body, options = {}) =>
      transport.request({ method: 'POST', path, body, headers: once(options), signal: options.signal }),
    update: (path, body, { version, ...options } = {}) =>
      transport.request({
        method: 'PATCH',
        path,
        body,
        headers: { ...once(options), ...(version !== undefined && { 'if-match': `"${version}"` }) },
        signal: options.signal,
      }),
    remove: (path, options = {}) =>
      transport.request({ method: 'DELETE', path, headers: once(options), signal: options.signal }),
  };
}
