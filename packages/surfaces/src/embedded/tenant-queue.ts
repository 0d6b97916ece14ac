/** What waits, tenant by tenant: each in its own order, and the tenants take turns. */

export class TenantQueue<T> {
  /** In the order of their turns. A tenant without anything is not here. */
  readonly #byTenant = new Map<string, T[]>();
  readonly #shareMax: number;
  #size = 0;

  constructor(options: { readonly shareMax: number }) {
    this.#shareMax = options.shareMax;
  }

  get size(): number {
    return this.#size;
  }

  /** False when the tenant has its share waiting already. */
  push(tenant: string, item: T): boolean {
    const own = this.#byTenant.get(tenant);
    if (own && own.length >= this.#shareMax) return false;
    if (own) own.push(item);
    else this.#byTenant.set(tenant, [item]);
    this.#size++;
    return true;
  }

  has(isFree: (tenant: string) => boolean): boolean {
    return this.#byTenant.keys().some(isFree);
  }

  /** Of the first tenant whose turn it may be; it then stands behind the others. */
  next(isFree: (tenant: string) => boolean): T | undefined {
    const turn = this.#byTenant.entries().find(([tenant]) => isFree(tenant));
    if (!turn) return undefined;
    const [tenant, own] = turn;
    const item = own.shift()!;
    this.#byTenant.delete(tenant);
    if (own.length > 0) this.#byTenant.set(tenant, own);
    this.#size--;
    return item;
  }

  /** Takes out what is over. Items of a tenant are over in their order. */
  takeWhile(isOver: (item: T) => boolean): T[] {
    const taken: T[] = [];
    for (const [tenant, own] of this.#byTenant) {
      const first = own.findIndex((item) => !isOver(item));
      taken.push(...own.splice(0, first === -1 ? own.length : first));
      if (own.length === 0) this.#byTenant.delete(tenant);
    }
    this.#size -= taken.length;
    return taken;
  }
}
