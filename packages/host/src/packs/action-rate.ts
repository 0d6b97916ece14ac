/** `connector.actions[].rateLimit` of a manifest: a node waits for its turn; all processes share the limit. */
import { hash } from 'node:crypto';
import type { RateLimit } from '@gantry/protocol';
import type { Store } from '@gantry/store';
import { pause, systemClock } from '../runtime/clock.ts';
import { takeToken, untilTokenMs } from '../runtime/token-bucket.ts';

export const ACTION_RATE = 'action-rate';

/** Resolves when the action may be dispatched. */
export async function actionTurn(
  { store, now }: { readonly store: Pick<Store, 'commit' | 'entries'>; readonly now: () => number },
  { tenant, packName, typeId }: Record<'tenant' | 'packName' | 'typeId', string>,
  rateLimit: RateLimit,
  signal: AbortSignal,
): Promise<void> {
  const id = hash('sha256', `${packName}\0${typeId}`, 'base64url');
  const key = { kind: ACTION_RATE, tenant, id };
  for (;;) {
    signal.throwIfAborted();
    const [result] = await store.commit([[takeToken(rateLimit, key, now())]]);
    if (result?.won) return;
    const value = await store.entries.counter(key);
    await pause(systemClock, untilTokenMs(rateLimit, value, now()), signal);
  }
}
