/** Who waits for messages of a topic, in this process. */

export interface Bell {
  /** Resolves when something may have arrived since the bell was taken. */
  readonly rung: Promise<void>;
  stop(): void;
}

export class Arrivals {
  readonly #bells = new Map<string, Set<() => void>>();

  /** Take it before looking, so that nothing arrives unheard in between. */
  bell(tenant: string, topic: string): Bell {
    const key = keyOf(tenant, topic);
    const { promise: rung, resolve } = Promise.withResolvers<void>();
    const waiting = this.#bells.get(key) ?? new Set();
    this.#bells.set(key, waiting.add(resolve));
    const stop = (): void => {
      waiting.delete(resolve);
      if (waiting.size === 0 && this.#bells.get(key) === waiting) this.#bells.delete(key);
    };
    return { rung, stop };
  }

  ring(tenant: string, topic: string): void {
    for (const wake of this.#bells.get(keyOf(tenant, topic)) ?? []) wake();
  }

  /** After an outage nobody knows what was missed. */
  ringAll(): void {
    for (const waiting of this.#bells.values()) for (const wake of waiting) wake();
  }
}

const keyOf = (tenant: string, topic: string): string => JSON.stringify([tenant, topic]);
