/**
 * Requests that outlive the check of their key, such as streams: they end when the key does.
 *
 * H1  A revocation ends them at once: whoever changes keys, here or in another process, clears the cache of keys.
 * H2  An expiry ends them by one timer, which is set for the earliest.
 * H3  A request is checked once more when it is held, since its key may have ended meanwhile.
 */
import type { OpenwopError } from '@gantry/protocol';
import type { FastifyRequest } from 'fastify';
import { endOf } from './auth.ts';
import { credentialOf } from './context.ts';
import type { KeyCache } from './key-cache.ts';

const TIMER_MS_MAX = 2 ** 31 - 1;
/** After a key could not be read. */
const AGAIN_MS = 1_000;

type End = (why: OpenwopError) => void;

interface Held {
  readonly ends: Set<End>;
  /** When the key is looked at again. */
  dueAt: number;
}

export interface HeldKeys {
  /** Calls `end` once, when the key of the request is no longer valid. Returns a function that lets go of it. */
  hold(request: FastifyRequest, end: End): () => void;
}

export function createHeldKeys(cache: KeyCache, now: () => number): HeldKeys {
  const held = new Map<string, Held>();
  let timer: NodeJS.Timeout | undefined;

  async function check(credential: string, one: Held): Promise<void> {
    const key = cache.recall(credential) ?? (await cache.load(credential));
    const why = endOf(key, now());
    one.dueAt = Math.min(
      ...[key?.record.expiresAt, key?.sessionEndsAt].map((at) => at ?? Number.POSITIVE_INFINITY),
    );
    if (!why) return;
    if (held.get(credential) === one) held.delete(credential);
    for (const end of one.ends) end(why);
  }

  async function checkAll(which: (one: Held) => boolean): Promise<void> {
    const due = [...held].filter(([, one]) => which(one));
    const tries = due.map(([credential, one]) =>
      check(credential, one).catch(() => {
        one.dueAt = now() + AGAIN_MS;
      }),
    );
    await Promise.all(tries);
    arm();
  }

  /** H2. */
  function arm(): void {
    clearTimeout(timer);
    const dueAt = Math.min(...[...held.values()].map((one) => one.dueAt));
    if (dueAt === Number.POSITIVE_INFINITY) return;
    const delayMs = Math.min(Math.max(dueAt - now(), 0), TIMER_MS_MAX);
    timer = setTimeout(() => void checkAll((one) => one.dueAt <= now()), delayMs).unref();
  }

  cache.onCleared(() => void checkAll(() => true));

  return {
    hold(request, end) {
      const credential = credentialOf(request);
      if (credential === null) return () => {};
      const one = held.get(credential) ?? { ends: new Set(), dueAt: Number.POSITIVE_INFINITY };
      held.set(credential, one);
      one.ends.add(end);
      void checkAll((each) => each === one);
      return () => {
        one.ends.delete(end);
        if (one.ends.size > 0 || held.get(credential) !== one) return;
        held.delete(credential);
        if (held.size === 0) clearTimeout(timer);
      };
    },
  };
}
