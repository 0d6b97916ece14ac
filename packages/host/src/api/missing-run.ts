import { OpenwopError, timeOfId } from '@gantry/protocol';
import type { ApiDeps } from './context.ts';

/**
 * Run ids tell their age. One that retention would have deleted by now is gone, whoever asks and whether or not
 * it ever was: the answer gives away nothing but the retention, which is public.
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
