/** Open sessions: one per key, limited in number, closed when idle. */
import type { Connection } from './connection.ts';

export interface ConnectionsOptions {
  readonly connectionsMax: number;
  readonly idleMs: number;
}

interface Entry {
  readonly key: string;
  readonly connection: Promise<Connection>;
  inUse: number;
  idleTimer: NodeJS.Timeout | undefined;
}

export interface Lease {
  readonly connection: Promise<Connection>;
  /** Stops reuse of this connection; it closes with its last user. */
  drop(): void;
  release(): void;
}

export class Connections {
  readonly #options: ConnectionsOptions;
  /** In the order of last use. */
  readonly #entries = new Map<string, Entry>();
  readonly #closing = new Set<Promise<void>>();

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Undefined when all `connectionsMax` connections are in use for other keys. */
  take(key: string, open: () => Promise<Connection>): Lease | undefined {
    const entry = this.#entries.get(key) ?? this.#fresh(key, open);
    if (!entry) return undefined;
    clearTimeout(entry.idleTimer);
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    entry.inUse += 1;
    return {
      connection: entry.connection,
      drop: () => this.#forget(entry),
      release: () => this.#release(entry),
    };
  }

  async stop(): Promise<void> {
    for (const entry of this.#entries.values()) this.#close(entry);
    await Promise.all(this.#closing);
  }

  #fresh(key: string, open: () => Promise<Connection>): Entry | undefined {
    if (this.#entries.size >= this.#options.connectionsMax) {
      const idle = [...this.#entries.values()].find(({ inUse }) => inUse === 0);
      if (!idle) return undefined;
      this.#close(idle);
    }
    return { key, connection: open(), inUse: 0, idleTimer: undefined };
  }

  #release(entry: Entry): void {
    entry.inUse -= 1;
    if (entry.inUse > 0) return;
    if (this.#entries.get(entry.key) !== entry) this.#close(entry);
    else entry.idleTimer = setTimeout(() => this.#close(entry), this.#options.idleMs).unref();
  }

  #forget(entry: Entry): void {
    if (this.#entries.get(entry.key) === entry) this.#entries.delete(entry.key);
  }

  #close(entry: Entry): void {
    clearTimeout(entry.idleTimer);
    this.#forget(entry);
    // A connection that never opened needs no close.
    const closed: Promise<void> = entry.connection
      .then(
        (connection) => connection.close(),
        () => {},
      )
      .finally(() => this.#closing.delete(closed));
    this.#closing.add(closed);
  }
}
