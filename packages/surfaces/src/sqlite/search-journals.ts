/** Upkeep of the journals in the files of tenants. A sweep looks into a few of them; the next goes on from there. */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { factsOf, type OpenFile } from './database-files.ts';
import { invocationArea } from './invocations.ts';
import { openForWriting } from './open-file.ts';

export const FILES_IN_SWEEP = 16;

export class SearchJournals {
  readonly #file: OpenFile;
  readonly #folder: string;
  #rest: string[] = [];

  constructor(file: OpenFile) {
    this.#file = file;
    this.#folder = dirname(factsOf(file).path);
  }

  /** As many as `limit` were forgotten: then there may be more in the same file. */
  forget(before: number, limit: number): number {
    if (this.#rest.length === 0) this.#rest = this.#files();
    let forgotten = 0;
    for (const path of this.#rest.splice(0, FILES_IN_SWEEP)) {
      if (forgotten < limit) forgotten += this.#forgetIn(path, before, limit - forgotten);
      if (forgotten === limit) this.#rest.unshift(path);
    }
    return forgotten;
  }

  #files(): string[] {
    if (!existsSync(this.#folder)) return [];
    const names = readdirSync(this.#folder).filter((name) => name.endsWith('.db'));
    return names.map((name) => join(this.#folder, name));
  }

  #forgetIn(path: string, before: number, limit: number): number {
    const database = openForWriting({ ...factsOf(this.#file), path });
    try {
      return invocationArea.writes(database).forget(before, limit);
    } finally {
      database.close();
    }
  }
}
