/** The events of heartbeats. They belong to no run: their log consists of the stored ticks. */
import { eventId, HEARTBEAT_EVENTS, type HeartbeatTick, type StoredEvent } from '@gantry/protocol';
import { fromEntry } from '@gantry/resources';
import type { CommitGroup, EntryReads, StoreChange } from '@gantry/store';
import { EventHub } from '../runtime/event-hub.ts';
import { heartbeats, heartbeatTicks, sequenceIndex } from './heartbeat.ts';

/** The number of ticks per page: a tick may have two states of 4 KiB. */
const PAGE = 32;

export function eventsOf({ at, sequence, evaluated, stateChanged }: HeartbeatTick): StoredEvent[] {
  const payloads = [evaluated, ...(stateChanged ? [stateChanged] : [])];
  return payloads.map((payload, i) => ({
    sequence: sequence + i,
    type: HEARTBEAT_EVENTS[i]!,
    at: Date.parse(at),
    nodeId: null,
    causationId: null,
    payload: JSON.stringify(payload),
    sealed: null,
  }));
}

/** The event as sent to subscribers. */
export function heartbeatEventJson(
  heartbeatId: string,
  { sequence, type, at, payload }: StoredEvent,
): string {
  const timestamp = new Date(at).toISOString();
  const head = { eventId: eventId(heartbeatId, sequence), heartbeatId, type, sequence, timestamp };
  return `${JSON.stringify(head).slice(0, -1)},"payload":${payload}}`;
}

/** Reads the events with the interface that runs have. */
export class HeartbeatEvents {
  readonly #entries: Pick<EntryReads, 'range'>;

  constructor(entries: Pick<EntryReads, 'range'>) {
    this.#entries = entries;
  }

  async events(tenant: string, id: string, from: number, limit: number): Promise<StoredEvent[]> {
    const ticks = await this.#entries.range(heartbeatTicks.kind, tenant, {
      name: 'sequence',
      prefix: `${id}/`,
      from: sequenceIndex(id, from - (from % 2)),
      limit: Math.min(limit, PAGE),
    });
    const events = ticks.flatMap((entry) => eventsOf(fromEntry(heartbeatTicks, entry).record));
    return events.filter(({ sequence }) => sequence >= from);
  }
}

/** Passes committed events to the followers of a heartbeat. */
export class HeartbeatLog extends HeartbeatEvents {
  readonly #hub = new EventHub();
  readonly #reads: Pick<EntryReads, 'get' | 'list'>;
  /** By heartbeat. */
  readonly #ends = new Map<string, Set<() => void>>();

  constructor(entries: Pick<EntryReads, 'range' | 'get' | 'list'>) {
    super(entries);
    this.#reads = entries;
  }

  /** By the id of the heartbeat. */
  readonly subscribe: EventHub['subscribe'] = (key, listener) => this.#hub.subscribe(key, listener);

  /** Calls `end` when the heartbeat is deleted, after its last event. */
  whenGone(id: string, end: () => void): () => void {
    const ends = this.#ends.get(id) ?? new Set();
    this.#ends.set(id, ends.add(end));
    return () => {
      ends.delete(end);
      if (ends.size === 0) this.#ends.delete(id);
    };
  }

  /** Handles commits of this process. */
  committed(group: CommitGroup): void {
    for (const write of group) {
      if (write.kind === 'putEntry' && write.entry.kind === heartbeatTicks.kind)
        this.#tell(JSON.parse(write.entry.body));
      if (write.kind === 'deleteEntry' && write.key.kind === heartbeats.kind) this.#gone(write.key.id);
    }
  }

  /** Handles commits of other processes: the newest tick makes readers read the log. */
  async changed({ missed, kinds }: StoreChange): Promise<void> {
    if (!missed && !kinds.includes(heartbeats.kind)) return;
    for (const { tenant, runId: id } of this.#hub.followed()) {
      const filter = { index: { name: 'heartbeatId', value: id }, limit: 1 };
      const [newest] = await this.#reads.list(heartbeatTicks.kind, tenant, filter);
      if (newest) this.#tell(JSON.parse(newest.body));
      if (!(await this.#reads.get({ kind: heartbeats.kind, tenant, id }))) this.#gone(id);
    }
  }

  #gone(id: string): void {
    for (const end of [...(this.#ends.get(id) ?? [])]) end();
  }

  #tell(tick: HeartbeatTick): void {
    this.#hub.relay(tick.evaluated.heartbeatId, eventsOf(tick));
  }
}
