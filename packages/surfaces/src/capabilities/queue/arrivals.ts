/** Consumers of this process that wait for messages. */
import type { ConsumerGroup } from '../../ports/queue.ts';

export interface Bell {
  /** Resolves when a message may have arrived since the bell was created. */
  readonly rung: Promise<void>;
  stop(): void;
}

export interface Turn {
  readonly come: Promise<void>;
  leave(): void;
}

export class Arrivals {
  readonly #bells = new Map<string, Set<() => void>>();
  /** By group, in order of arrival. */
  readonly #lines = new Map<string, Set<() => void>>();

  /** Create it before checking for messages, so that no arrival in between is missed. */
  bell(tenant: string, topic: string): Bell {
    const { promise: rung, leave: stop } = join(this.#bells, keyOf(tenant, topic));
    return { rung, stop };
  }

  turn(tenant: string, { topic, group }: ConsumerGroup): Turn {
    const { promise: come, others, leave } = join(this.#lines, keyOf(tenant, topic, group));
    const callFirst = (): void => others.values().next().value?.();
    callFirst();
    return {
      come,
      leave() {
        leave();
        callFirst();
      },
    };
  }

  ring(tenant: string, topic: string): void {
    for (const wake of this.#bells.get(keyOf(tenant, topic)) ?? []) wake();
  }

  /** Called after an outage, since notices may have been missed. */
  ringAll(): void {
    for (const waiting of this.#bells.values()) for (const wake of waiting) wake();
  }
}

function join(waiting: Map<string, Set<() => void>>, key: string) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const wake = (): void => resolve();
  const others = waiting.get(key) ?? new Set();
  waiting.set(key, others.add(wake));
  const leave = (): void => {
    others.delete(wake);
    if (others.size === 0 && waiting.get(key) === others) waiting.delete(key);
  };
  return { promise, others, leave };
}

const keyOf = (...names: readonly string[]): string => JSON.stringify(names);
