/**
 * Tenants that were found full. To find out that nothing can go, every message that they hold is looked at, in the thread
 * that writes for all tenants: so it is remembered until something may have changed.
 */

/** What a tenant has when all that can go is gone. */
interface Floor {
  readonly bytes: number;
  /** When the first of that expires. */
  readonly until: number;
}

const TENANTS_MAX = 1_000;
/** A transaction that fails takes back what was counted. */
const REMEMBERED_MS = 60_000;

export class FullTenants {
  readonly #floors = new Map<string, Floor>();

  /** Whether it is of no use to look for room. */
  isKnown(tenant: string, { now, room }: { readonly now: number; readonly room: number }): boolean {
    const floor = this.#floors.get(tenant);
    return floor !== undefined && now < floor.until && floor.bytes > room;
  }

  remember(tenant: string, { bytes, until }: Floor, now: number): void {
    if (this.#floors.size >= TENANTS_MAX) this.#floors.clear();
    this.#floors.set(tenant, { bytes, until: Math.min(until, now + REMEMBERED_MS) });
  }

  /** A group is done with something. */
  forget(tenant: string): void {
    this.#floors.delete(tenant);
  }

  /** Messages went. */
  forgetAll(): void {
    this.#floors.clear();
  }
}
