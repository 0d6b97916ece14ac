import type { Receipt } from './invocation.ts';

/** Collects what the host saw used. */
export class Usage {
  readonly #primitives = new Set<string>();
  readonly #surfaces = new Set<string>();

  primitive(id: string): void {
    this.#primitives.add(id);
  }

  surface(path: string): void {
    this.#surfaces.add(path);
  }

  receipt(atLoad?: Usage): Receipt {
    const primitives = new Set([...this.#primitives, ...(atLoad ? atLoad.#primitives : [])]);
    return { primitives: [...primitives].sort(), surfaces: [...this.#surfaces].sort() };
  }
}
