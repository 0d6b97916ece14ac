import type { StoredEvent } from '@gantry/protocol';

export type EventListener = (events: readonly StoredEvent[]) => void;

/** Tells live readers of a run what was just committed. Nothing reaches it before its commit. */
export class EventHub {
  readonly #listeners = new Map<string, Set<EventListener>>();

  subscribe(runId: string, listener: EventListener): () => void {
    const listeners = this.#listeners.get(runId) ?? new Set();
    this.#listeners.set(runId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(runId) === listeners) this.#listeners.delete(runId);
    };
  }

  isFollowed(runId: string): boolean {
    return this.#listeners.has(runId);
  }

  publish(runId: string, events: readonly StoredEvent[]): void {
    const listeners = this.#listeners.get(runId);
    if (listeners) for (const listener of listeners) listener(events);
  }
}
