/**
 * The URL at which clients reach this host. Runs that continue at startup may make links before the port is
 * known. They wait for it, since a link is stored, sent and used elsewhere, and must lead to this host.
 */
export class PublicAddress {
  #url: string;
  #opening: Promise<void> | undefined;

  /** `given` is the setting of the operator, and takes precedence. */
  constructor(given: string | undefined) {
    this.#url = given ?? '';
  }

  /** Empty if the host does not listen. */
  get url(): string {
    return this.#url;
  }

  /** Waits while the host is starting to listen. */
  async known(): Promise<string> {
    if (this.#url === '') await this.#opening;
    return this.#url;
  }

  /** `open` returns the URL at which the host listens. */
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
