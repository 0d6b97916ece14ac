import type { StoredEvent } from '@gantry/protocol';
import type { RunKey } from '@gantry/store';

export type EventListener = (events: readonly StoredEvent[]) => void;

type FailureListener = (key: RunKey, event: StoredEvent) => void;

interface Followed {
  readonly key: RunKey;
  readonly listeners: Set<EventListener>;
}

/** Sends events of a run to its live readers, never before their commit. */
export class EventHub {
  readonly #followed = new Map<string, Followed>();
  readonly #onFailed: FailureListener | undefined;

  /** `onFailed` is called for runs that failed in this process. */
  constructor(onFailed?: FailureListener) {
    this.#onFailed = onFailed;
  }

  subscribe(key: RunKey, listener: EventListener): () => void {
    const { runId } = key;
    const followed = this.#followed.get(runId) ?? { key, listeners: new Set() };
    followed.listeners.add(listener);
    this.#followed.set(runId, followed);
    return () => {
      followed.listeners.delete(listener);
      if (followed.listeners.size === 0 && this.#followed.get(runId) === followed)
        this.#followed.delete(runId);
    };
  }

  isFollowed(runId: string): boolean {
    return this.#followed.has(runId);
  }

  /** Runs that have readers now. */
  followed(): RunKey[] {
    return [...this.#followed.values()].map(({ key }) => key);
  }

  /** Events that this process has committed. */
  publish(key: RunKey, events: readonly StoredEvent[]): void {
    this.relay(key.runId, events);
    const failed = this.#onFailed && events.find(({ type }) => type === 'run.failed');
    if (failed) this.#onFailed?.(key, failed);
  }

  /** Events that another process has committed. */
  relay(runId: string, events: readonly StoredEvent[]): void {
    const followed = this.#followed.get(runId);
    if (followed) for (const listener of followed.listeners) listener(events);
  }
}
