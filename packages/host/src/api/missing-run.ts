import { OpenwopError, timeOfId } from '@gantry/protocol';
import type { ApiDeps } from './context.ts';

/**
 * A run id contains its creation time. An id older than the retention is reported as expired to every caller,
 * whether or not the run ever existed: the answer reveals only the retention, which is public.
 */
export function missingRun(
  { info, now }: Pick<ApiDeps, 'info' | 'now'>,
  runId: string,
  details = {},
): OpenwopError {
  const madeAt = timeOfId(runId);
  const boundary = now() - info.retentionSeconds * 1000;
  if (madeAt === undefined || madeAt >= boundary) return new OpenwopError('not_found', { details });
  return new OpenwopError('run_expired', {
    details: { ...details, boundary: new Date(boundary).toISOString() },
  });
}
