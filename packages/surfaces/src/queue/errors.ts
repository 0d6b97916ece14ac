import { OpenwopError } from '@gantry/protocol';
import { TENANT_FULL } from './queue-store.ts';

export const tokenExpired = (): OpenwopError => new OpenwopError('queue_delivery_token_expired');

export function backendUnavailable(message: string, cause?: unknown): OpenwopError {
  const error = new OpenwopError('queue_backend_unavailable', { message });
  if (cause !== undefined) error.cause = cause;
  return error;
}

export const tenantFull = (quotaBytes: number): OpenwopError =>
  new OpenwopError('queue_backend_unavailable', { message: TENANT_FULL, details: { quotaBytes } });
