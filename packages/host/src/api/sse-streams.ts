/** All open streams: one subscription per run or heartbeat, one keep-alive timer for all. */
import type { StoredEvent } from '@gantry/protocol';
import type { RunKey } from '@gantry/store';
import type { EventHub } from '../runtime/event-hub.ts';
import type { EventStream } from './sse-stream.ts';
import type { SharedBytes } from './sse-writer.ts';

const KEEP_ALIVE_MS = 15_000;

/** The streams of one run. */
interface Feed {
  readonly streams: Set<EventStream>;
  readonly unsubscribe: () => void;
}

export type EventSource = Pick<EventHub, 'subscribe'>;

export interface Streams {
  readonly size: number;
  /** `key` identifies the source of the events: a run, or a heartbeat by its id. */
  add(source: EventSource, key: RunKey, stream: EventStream): void;
  remove(runId: string, stream: EventStream): void;
  close(): void;
}

export function createStreams(): Streams {
  const feeds = new Map<string, Feed>();
  let size = 0;
  let keepAlive: NodeJS.Timeout | undefined;

  function all(visit: (stream: EventStream) => void): void {
    for (const { streams } of [...feeds.values()]) for (const stream of [...streams]) visit(stream);
  }

  function openFeed(source: EventSource, key: RunKey): Feed {
    const streams = new Set<EventStream>();
    const unsubscribe = source.subscribe(key, (events: readonly StoredEvent[]) => {
      const shared: SharedBytes = new Map();
      for (const stream of streams) stream.receive(events, shared);
    });
    const feed = { streams, unsubscribe };
    feeds.set(key.runId, feed);
    return feed;
  }

  return {
    get size() {
      return size;
    },
    add(source, key, stream) {
      (feeds.get(key.runId) ?? openFeed(source, key)).streams.add(stream);
      size++;
      keepAlive ??= setInterval(() => all((open) => open.keepAlive()), KEEP_ALIVE_MS).unref();
    },
    remove(runId, stream) {
      const feed = feeds.get(runId);
      if (feed === undefined || !feed.streams.delete(stream)) return;
      size--;
      if (feed.streams.size === 0) {
        feed.unsubscribe();
        feeds.delete(runId);
      }
      if (size === 0) {
        clearInterval(keepAlive);
        keepAlive = undefined;
      }
    },
    close() {
      all((stream) => stream.end());
    },
  };
}
