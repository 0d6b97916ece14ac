import { OpenwopError } from '@gantry/protocol';
import { TENANT_FULL, tooManyGroupsText } from './queue-store.ts';

export const tokenExpired = (): OpenwopError => new OpenwopError('queue_delivery_token_expired');

export const backendUnavailable = (message: string, cause?: unknown): OpenwopError =>
  new OpenwopError('queue_backend_unavailable', { message, cause });

export const tenantFull = (quotaBytes: number): OpenwopError =>
  new OpenwopError('queue_backend_unavailable', { message: TENANT_FULL, details: { quotaBytes } });

export const tooManyGroups = (groupsMax: number): OpenwopError =>
  new OpenwopError('queue_backend_unavailable', {
    message: tooManyGroupsText(groupsMax),
    details: { groupsMax },
  });
