/** Writes to the full text of all tenants: those of a tenant that arrived together are one transaction. */
import type { Answer } from '../database-answer.ts';
import type { OpenFile } from './database-files.ts';
import { TenantFiles } from './search-files.ts';
import { SearchJournals } from './search-journals.ts';
import { failure, type Server } from './serve.ts';
import { type Asked, FORGET, isAsked } from './wire.ts';
import { openWriter } from './writer-file.ts';

export function openSearchWriter(file: OpenFile): Server {
  const files = new TenantFiles((tenant) => openWriter(file, tenant));
  const journals = new SearchJournals(file);
  const writesOf = (tenant: string, requests: readonly Asked[]): Answer[] =>
    attempt(requests, () => files.get(tenant).answer(requests));
  const alone = (request: Asked): Answer[] =>
    attempt([request], () => [{ kind: 'done', value: journals.forget(...forgotten(request)) }]);
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

/** Null for what is not a write to the file of one. */
const tenantOf = (request: Asked): string | null =>
  isAsked(request, FORGET) ? null : String(request.args[0]);

const forgotten = ({ args: [before, limit] }: Asked): [number, number] => [Number(before), Number(limit)];

function attempt(requests: readonly Asked[], work: () => Answer[]): Answer[] {
  try {
    return work();
  } catch (error) {
    return requests.map(() => failure(error));
  }
}
