/** Writes to the full text of all tenants. Writes of a tenant that arrived together share a transaction. */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Answer, failure } from '../refusal.ts';
import { factsOf, type OpenFile } from './database-files.ts';
import { invocationArea } from './invocations.ts';
import { openForWriting } from './open-file.ts';
import { TenantFiles } from './search-files.ts';
import type { Server } from './serve.ts';
import { type Asked, FORGET, FORGET_RUN, isAsked } from './wire.ts';
import { openWriter } from './writer-file.ts';

export function openSearchWriter(file: OpenFile): Server {
  const files = new TenantFiles((tenant) => openWriter(file, tenant));
  const journals = new SearchJournals(file);
  const writesOf = (tenant: string, requests: readonly Asked[]): Answer[] =>
    attempt(requests, () => files.get(tenant).answer(requests));
  const alone = (request: Asked): Answer[] =>
    attempt([request], () => [{ kind: 'done', value: forgetIn(journals, request) }]);
  return {
    answer(requests) {
      const byTenant = Map.groupBy(requests, tenantOf);
      const answers = new Map<Asked, Answer>();
      for (const [tenant, asked] of byTenant) {
        const answered = tenant === null ? asked.flatMap(alone) : writesOf(tenant, asked);
        for (const [at, request] of asked.entries()) answers.set(request, answered[at]!);
      }
      return requests.map((request) => answers.get(request)!);
    },
    close: () => files.close(),
  };
}

/** Null for requests that do not write to the file of a tenant. */
const tenantOf = (request: Asked): string | null =>
  request.area === FORGET.area ? null : String(request.args[0]);

function forgetIn(journals: SearchJournals, request: Asked): number {
  const [first, second] = request.args;
  if (isAsked(request, FORGET_RUN)) return journals.forgetRun(String(first), String(second));
  return journals.forget(Number(first), Number(second));
}

function attempt(requests: readonly Asked[], work: () => Answer[]): Answer[] {
  try {
    return work();
  } catch (error) {
    return requests.map(() => failure(error));
  }
}

const FILES_IN_SWEEP = 16;

class SearchJournals {
  readonly #file: OpenFile;
  readonly #folder: string;
  #rest: string[] = [];

  constructor(file: OpenFile) {
    this.#file = file;
    this.#folder = dirname(factsOf(file).path);
  }

  /** If the result equals `limit`, the same file may have more. */
  forget(before: number, limit: number): number {
    if (this.#rest.length === 0) this.#rest = this.#files();
    let forgotten = 0;
    for (const path of this.#rest.splice(0, FILES_IN_SWEEP)) {
      if (forgotten < limit)
        forgotten += this.#journalIn(path, (journal) => journal.forget(before, limit - forgotten));
      if (forgotten === limit) this.#rest.unshift(path);
    }
    return forgotten;
  }

  forgetRun(tenant: string, runId: string): number {
    const { path } = factsOf(this.#file, tenant);
    return existsSync(path) ? this.#journalIn(path, (journal) => journal.forgetRun(tenant, runId)) : 0;
  }

  #files(): string[] {
    if (!existsSync(this.#folder)) return [];
    const names = readdirSync(this.#folder).filter((name) => name.endsWith('.db'));
    return names.map((name) => join(this.#folder, name));
  }

  #journalIn(path: string, work: (journal: ReturnType<typeof invocationArea.writes>) => number): number {
    const database = openForWriting({ ...factsOf(this.#file), path });
    try {
      return work(invocationArea.writes(database));
    } finally {
      database.close();
    }
  }
}
