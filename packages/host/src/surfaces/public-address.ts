/**
 * Where clients reach this host. Runs that go on at a start may make links before the port is known: such a link waits
 * for it, since it is kept, sent and used elsewhere, and must lead here from there.
 */
export class PublicAddress {
  #url: string;
  #opening: Promise<void> | undefined;

  /** `given` is the operator's word, and stands. */
  constructor(given: string | undefined) {
    this.#url = given ?? '';
  }

  /** Empty where the host does not listen. */
  get url(): string {
    return this.#url;
  }

  /** Waits while the host is being opened. */
  async known(): Promise<string> {
    if (this.#url === '') await this.#opening;
    return this.#url;
  }

  /** `open` answers where the host listens. */
  async opened(open: () => Promise<string>): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#opening = promise;
    try {
      const url = await open();
      this.#url ||= url;
      return url;
    } finally {
      resolve();
    }
  }
}
