/** The open files of tenants. Few are open: the least recently used is closed first, and idle ones are closed too. */

/** Per thread or process. */
export const FILES_MAX = 32;
const IDLE_MS = 60_000;

export interface Closeable {
  close(): void;
}

/** `T` includes null if a file may not exist yet. */
export class TenantFiles<T extends Closeable | null> {
  readonly #openFile: (tenant: string) => T;
  readonly #open = new Map<string, T & Closeable>();
  readonly #used = new Set<string>();
  readonly #timer: NodeJS.Timeout;

  constructor(open: (tenant: string) => T) {
    this.#openFile = open;
    this.#timer = setInterval(() => this.closeIdle(), IDLE_MS).unref();
  }

  get size(): number {
    return this.#open.size;
  }

  get(tenant: string): T {
    const file = this.#open.get(tenant) ?? this.#openFile(tenant);
    if (file === null) return file;
    this.#open.delete(tenant);
    this.#open.set(tenant, file);
    this.#used.add(tenant);
    if (this.#open.size > FILES_MAX) this.#close(this.#open.keys().next().value!);
    return file;
  }

  /** Closes files that were not used since the last call. */
  closeIdle(): void {
    for (const tenant of this.#open.keys()) if (!this.#used.has(tenant)) this.#close(tenant);
    this.#used.clear();
  }

  close(): void {
    clearInterval(this.#timer);
    for (const tenant of this.#open.keys()) this.#close(tenant);
  }

  #close(tenant: string): void {
    const file = this.#open.get(tenant);
    this.#open.delete(tenant);
    this.#used.delete(tenant);
    file?.close();
  }
}
