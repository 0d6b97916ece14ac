/**
 * Idle connections between two requests.
 *
 * K1 A connection is only reused by the same tenant, for the same origin, under the same policy.
 * K2 Its address must be among those checked for the new request.
 * K3 Undici closes it after 30 idle seconds. It does not keep the process alive.
 */
import type { Line } from './line.ts';

const IDLE_MAX = 256;

export class KeptLines {
  readonly #byKey = new Map<string, Line[]>();
  /** The connection that has been idle longest is first. */
  readonly #idle = new Map<Line, string>();
  #closed = false;

  take(key: string, addresses: readonly string[]): Line | undefined {
    for (;;) {
      const line = this.#byKey.get(key)?.at(-1);
      if (!line) return undefined;
      this.#forget(line);
      if (line.isOpen && addresses.includes(line.address)) return line;
      line.destroy();
    }
  }

  keep(key: string, line: Line): void {
    if (this.#closed || !line.isOpen) {
      line.destroy();
      return;
    }
    if (this.#idle.size >= IDLE_MAX) this.#idle.keys().next().value?.destroy();
    this.#idle.set(line, key);
    const lines = this.#byKey.get(key);
    if (lines) lines.push(line);
    else this.#byKey.set(key, [line]);
  }

  /** A closed line is not reused. */
  watch(line: Line): Line {
    line.onClose(() => this.#forget(line));
    return line;
  }

  close(): void {
    this.#closed = true;
    for (const line of this.#idle.keys()) line.destroy();
  }

  #forget(line: Line): void {
    const key = this.#idle.get(line);
    if (key === undefined) return;
    this.#idle.delete(line);
    const lines = this.#byKey.get(key) ?? [];
    lines.splice(lines.lastIndexOf(line), 1);
    if (lines.length === 0) this.#byKey.delete(key);
  }
}
