/** Who waits for a process, tenant by tenant: each in its own order. */
export interface Waiter {
  readonly tenant: string;
  readonly since: number;
}

export class Waiting<T extends Waiter> {
  /** In the order of their turns. A tenant without anybody is not here. */
  readonly #byTenant = new Map<string, Set<T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(waiter: T): void {
    const own = this.#byTenant.get(waiter.tenant);
    if (own) own.add(waiter);
    else this.#byTenant.set(waiter.tenant, new Set([waiter]));
    this.#size += 1;
  }

  /** False when it was not here any more. */
  remove(waiter: T): boolean {
    const own = this.#byTenant.get(waiter.tenant);
    if (!own?.delete(waiter)) return false;
    if (own.size === 0) this.#byTenant.delete(waiter.tenant);
    this.#size -= 1;
    return true;
  }

  /** It had its turn: its tenant stands behind the others. */
  served(waiter: T): void {
    this.remove(waiter);
    const own = this.#byTenant.get(waiter.tenant);
    if (!own) return;
    this.#byTenant.delete(waiter.tenant);
    this.#byTenant.set(waiter.tenant, own);
  }

  tenants(): [string, ReadonlySet<T>][] {
    return [...this.#byTenant];
  }

  /** The tenant that has the least comes first; of those that have the same, the one whose turn it is. */
  inOrder(has: (tenant: string) => number): ReadonlySet<T>[] {
    const tenants = [...this.#byTenant].map(([tenant, own]) => ({ own, has: has(tenant) }));
    return tenants.sort((a, b) => a.has - b.has).map(({ own }) => own);
  }

  clear(): T[] {
    const all = [...this.#byTenant.values()].flatMap((own) => [...own]);
    this.#byTenant.clear();
    this.#size = 0;
    return all;
  }
}
