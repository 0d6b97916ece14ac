import { type Limiter, LimiterError } from '@gantry/limiter';
import { OpenwopError } from '@gantry/protocol';

const RETRY_AFTER_SECONDS = 5;

/** Holds a slot of a limiter while `work` runs; a tenant with too many requests waiting gets an error. */
export async function inTurn<T>(turns: Limiter, tenant: string, work: () => Promise<T>): Promise<T> {
  try {
    return await turns.run(tenant, work);
  } catch (error) {
    if (!(error instanceof LimiterError)) throw error;
    const retryAfterMs = RETRY_AFTER_SECONDS * 1_000;
    throw new OpenwopError('rate_limited', {
      message: error.message,
      details: {
        retryAfter: RETRY_AFTER_SECONDS,
        retryAfterMs,
        retryAfterSeconds: RETRY_AFTER_SECONDS,
        scope: 'tenant',
      },
      headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
    });
  }
}
