/** SQLite as data sources: a host file for each tenant, files of the operator, and tables in memory. */
import { hash } from 'node:crypto';
import { join, resolve } from 'node:path';
import { refusedTurn, unavailable } from '../backend-errors.ts';
import { noteWrite, recordedAnswer } from '../calls/call-journal.ts';
import type { DataObject } from '../calls/data.ts';
import type { NumberedCall } from '../calls/surface-call.ts';
import { JobPool } from '../jobs/job-pool.ts';
import type { Unanswered } from '../jobs/job-process.ts';
import type { SqlBackend, SqlLimits, SqlStatement } from '../ports/sql.ts';
import { readAnswer } from '../read-answer.ts';
import type { Answer } from '../refusal.ts';
import { inDoubt, late, refused, tooMany } from './errors.ts';
import { TURNS } from './sessions.ts';
import type { SqliteFile, SqliteJob, SqliteTable } from './sqlite-wire.ts';

type Ended = Answer | Unanswered;

/** Uncommitted changes are lost when a job ends. */
export class SqlitePool {
  readonly #jobs = new JobPool<SqliteJob, Answer>({
    entry: new URL('./sqlite-process.ts', import.meta.url),
    slowMs: 0,
    ...TURNS,
  });

  run(tenant: string, job: SqliteJob): Promise<Ended> {
    return this.#jobs.run(tenant, job, job.limits.timeoutMs).catch(refusedTurn);
  }

  close(): Promise<void> {
    return this.#jobs.close('end');
  }
}

export interface TenantFilesOptions {
  readonly dataDir: string;
  readonly limits: SqlLimits;
  /** Per file. */
  readonly bytesMax: number;
  /** How long recorded answers are kept for nodes that run again. */
  readonly invocationRetentionMs: number;
}

/** Tenant names may contain any character; a hash is a valid name in every file system. */
const pathOf = (dataDir: string, tenant: string): string =>
  join(resolve(dataDir), 'sql', `${hash('sha256', tenant)}.db`);

/** The `primary` data source: created when a tenant first uses it. */
export function tenantFiles(pool: SqlitePool, options: TenantFilesOptions): SqlBackend {
  const { dataDir, limits, bytesMax, invocationRetentionMs } = options;
  const fileOf = (tenant: string): SqliteFile => ({ owner: 'host', path: pathOf(dataDir, tenant), bytesMax });
  return {
    dialect: 'sqlite',
    journal: 'own',
    query: async (statement, { tenant }) =>
      rowsOf(await pool.run(tenant, { kind: 'query', file: fileOf(tenant), statement, limits }), limits),
    async execute(statements, { tenant, now, invocation }) {
      noteWrite(invocation);
      const { id, method, fingerprint } = invocation;
      const forgetBefore = now - invocationRetentionMs;
      const journaled = { call: { id, method, fingerprint }, now, forgetBefore };
      const job = { kind: 'execute', file: fileOf(tenant), statements, journaled, limits } as const;
      return countsOf(await pool.run(tenant, job), { limits, journaled: invocation });
    },
    health: async () => {},
    dangerousRights: async () => [],
    close: async () => {},
  };
}

export interface OperatorFileOptions {
  readonly file: string;
  readonly limits: SqlLimits;
}

export function operatorFile(pool: SqlitePool, { file: path, limits }: OperatorFileOptions): SqlBackend {
  const file: SqliteFile = { owner: 'operator', path: resolve(path) };
  return {
    dialect: 'sqlite',
    journal: 'host',
    query: async (statement, { tenant }) =>
      rowsOf(await pool.run(tenant, { kind: 'query', file, statement, limits }), limits),
    async execute(statements, { tenant }) {
      const job = { kind: 'execute', file, statements, journaled: null, limits } as const;
      return countsOf(await pool.run(tenant, job), { limits, journaled: null });
    },
    health: async () => void answerOf(await pool.run('', { kind: 'health', file, limits }), limits),
    dangerousRights: async () => [],
    close: async () => {},
  };
}

/** Rows of a workflow as tables, for one query. */
export interface MemoryTables {
  query(
    tables: readonly SqliteTable[],
    statement: SqlStatement,
    call: { tenant: string },
  ): Promise<DataObject[]>;
}

export const memoryTables = (pool: SqlitePool, limits: SqlLimits): MemoryTables => ({
  query: async (tables, statement, { tenant }) =>
    rowsOf(await pool.run(tenant, { kind: 'tables', tables, statement, limits }), limits),
});

const rowsOf = (ended: Ended, limits: SqlLimits): DataObject[] => answerOf(ended, limits) as DataObject[];

function countsOf(
  ended: Ended,
  { limits, journaled }: { readonly limits: SqlLimits; readonly journaled: NumberedCall | null },
): number[] {
  if (ended.kind === 'recorded' && journaled) return recordedAnswer(journaled, ended) as number[];
  if (ended.kind === 'lost in commit' && journaled === null) throw inDoubt('SQLite', undefined);
  return answerOf(ended, limits) as number[];
}

function answerOf(ended: Ended, limits: SqlLimits): unknown {
  switch (ended.kind) {
    case 'late':
      throw late(limits);
    case 'large':
      throw tooMany('bytes', limits);
    case 'lost':
      throw unavailable('The process of the database ended.');
    // With a journal, repeating the call is safe: a write that was kept is recorded with its answer
    case 'lost in commit':
      throw unavailable('The process of the database ended.', 'Whether the write was kept is on record.');
    case 'refused':
      if (ended.code === 'storage_unavailable') throw refused('SQLite', undefined, ended.message ?? UNUSABLE);
      return readAnswer(null, ended);
    default:
      return readAnswer(null, ended);
  }
}

const UNUSABLE = 'cannot use its database file. The operator must check it.';
