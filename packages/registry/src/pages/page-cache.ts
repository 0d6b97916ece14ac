/**
 * Pages as they were made for one revision of the catalogue. Making one unpacks an archive, so only a few are
 * made at a time and those that ask for the same one share it.
 */
import type { Document } from '../derived/document.ts';

const PAGES_MAX = 500;
const CHARS_MAX = 32 * 1024 * 1024;
const AT_ONCE_MAX = 2;

export class PageCache {
  readonly #pages = new Map<string, Promise<Document>>();
  readonly #sizes = new Map<string, number>();
  readonly #waiting: (() => void)[] = [];
  #revision = -1;
  #chars = 0;
  #underWay = 0;

  async get(revision: number, key: string, make: () => Promise<Document>): Promise<Document> {
    if (revision !== this.#revision) this.#forgetAll(revision);
    const known = this.#pages.get(key);
    if (known !== undefined) return known;
    const page = this.#inTurn(make);
    this.#pages.set(key, page);
    page.then(
      (document) => this.#keep(key, page, document),
      () => this.#forget(key, page),
    );
    return page;
  }

  async #inTurn(make: () => Promise<Document>): Promise<Document> {
    if (this.#underWay >= AT_ONCE_MAX) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#underWay++;
    try {
      return await make();
    } finally {
      // The turn goes to whoever waits longest, without a moment in between.
      const next = this.#waiting.shift();
      if (next === undefined) this.#underWay--;
      else next();
    }
  }

  #keep(key: string, page: Promise<Document>, { text }: Document): void {
    if (this.#pages.get(key) !== page) return;
    this.#sizes.set(key, text.length);
    this.#chars += text.length;
    for (const oldest of this.#sizes.keys()) {
      if (this.#sizes.size <= PAGES_MAX && this.#chars <= CHARS_MAX) break;
      this.#chars -= this.#sizes.get(oldest) ?? 0;
      this.#sizes.delete(oldest);
      this.#pages.delete(oldest);
    }
  }

  #forget(key: string, page: Promise<Document>): void {
    if (this.#pages.get(key) === page) this.#pages.delete(key);
  }

  #forgetAll(revision: number): void {
    this.#pages.clear();
    this.#sizes.clear();
    this.#chars = 0;
    this.#revision = revision;
  }
}
