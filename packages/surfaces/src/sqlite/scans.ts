/** Reads that scan the data of a tenant, in separate processes. */
import { statSync } from 'node:fs';
import { type ErrorCode, OpenwopError } from '@gantry/protocol';
import { refusedTurn, unavailable } from '../backend-errors.ts';
import { JobPool } from '../jobs/job-pool.ts';
import type { Unanswered } from '../jobs/job-process.ts';
import { readAnswer } from '../read-answer.ts';
import type { Answer } from '../refusal.ts';
import { factsOf, type OpenFile } from './database-files.ts';
import { LOG_BYTES_MAX } from './open-file.ts';
import type { Asked } from './wire.ts';

const SLOW_MS = 100;
const PROCESSES_MAX = 3;
const PROCESSES_BY_TENANT_MAX = 2;
const WAITING_BY_TENANT_MAX = 1_000;
const WAIT_MS_MAX = 30_000;

export type ScannedArea = 'documents' | 'search' | 'vectors';

/** The error for a read that takes too long, with an alternative. Repeating the read would not help. */
const LATE: Readonly<Record<ScannedArea, readonly [ErrorCode, string]>> = {
  documents: [
    'validation_error',
    'Ask for fewer documents: by id, by an indexed column, or with a simpler filter.',
  ],
  search: ['search_query_syntax_error', 'Look for fewer or rarer words, or for shorter phrases.'],
  vectors: ['validation_error', 'Ask with a simpler filter, or keep the vectors in several collections.'],
};

interface ScansOptions {
  readonly area: ScannedArea;
  readonly file: OpenFile;
  readonly scanMsMax: number;
  /** A checkpoint of the file that a tenant's scans read, by its writer. */
  checkpoint(tenant: string): Promise<unknown>;
}

export class Scans {
  readonly #options: ScansOptions;
  readonly #jobs: JobPool<Asked, Answer>;
  readonly #log: ScansLog;
  readonly #running = new Map<string, number>();
  #emptied = Promise.withResolvers<void>();

  constructor(options: ScansOptions) {
    this.#options = options;
    const { file, checkpoint } = options;
    this.#log = new ScansLog({ pathOf: (tenant) => factsOf(file, tenant).path, checkpoint });
    this.#jobs = new JobPool({
      entry: new URL('./scan-process.ts', import.meta.url),
      args: [JSON.stringify(file)],
      slowMs: SLOW_MS,
      max: PROCESSES_MAX,
      perTenantMax: PROCESSES_BY_TENANT_MAX,
      // One more has a turn and waits for a process
      waitingPerTenantMax: WAITING_BY_TENANT_MAX - 1,
      waitMs: WAIT_MS_MAX,
    });
  }

  async request(tenant: string, asked: Asked): Promise<unknown> {
    const ended = await this.#jobs
      .run(tenant, asked, this.#options.scanMsMax, () => this.#begin(tenant))
      .catch(refusedTurn);
    void this.#end(tenant);
    return this.#valueOf(asked, ended);
  }

  /** Kills running scans: they change nothing. */
  close(): Promise<void> {
    return this.#jobs.close('kill');
  }

  async #begin(tenant: string): Promise<void> {
    while (!this.#log.mayBegin(tenant)) await this.#emptied.promise;
    this.#count(tenant, 1);
  }

  async #end(tenant: string): Promise<void> {
    this.#count(tenant, -1);
    if (!(await this.#log.ended(tenant, this.#running.keys()))) return;
    this.#emptied.resolve();
    this.#emptied = Promise.withResolvers();
  }

  #count(tenant: string, change: number): void {
    const many = (this.#running.get(tenant) ?? 0) + change;
    if (many === 0) this.#running.delete(tenant);
    else this.#running.set(tenant, many);
  }

  #valueOf(asked: Asked, ended: Answer | Unanswered): unknown {
    switch (ended.kind) {
      case 'late':
        throw this.#late();
      case 'large':
      case 'lost':
      case 'lost in commit':
        throw unavailable(
          this.#jobs.isClosed ? 'The host is stopping.' : 'The process that reads the database ended.',
        );
      default:
        return readAnswer(asked, ended);
    }
  }

  #late(): OpenwopError {
    const { area, scanMsMax } = this.#options;
    const [code, instead] = LATE[area];
    return new OpenwopError(code, {
      message: `The query exceeded ${scanMsMax} ms and was cancelled. ${instead}`,
      details: { timeoutMs: scanMsMax },
    });
  }
}

/**
 * Keeps the log of a database file small while scans overlap (measured: six scans and a writer: 191 MB after 16 s).
 *
 * I1  No scan of a file starts while its log is too long. The log is truncated when the running scans have ended.
 * I2  If truncating failed, it is tried again when the log has grown by the same amount.
 */
interface ScansLogOptions {
  /** The database that a tenant's scans read. */
  pathOf(tenant: string): string;
  checkpoint(tenant: string): Promise<unknown>;
}

const logBytes = (path: string): number => statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;

export class ScansLog {
  readonly #options: ScansLogOptions;
  readonly #held = new Set<string>();
  /** See I2. */
  readonly #bytesMax = new Map<string, number>();

  constructor(options: ScansLogOptions) {
    this.#options = options;
  }

  mayBegin(tenant: string): boolean {
    return !this.#held.has(this.#options.pathOf(tenant));
  }

  /** Called after each scan; `running`: the tenants of running scans. True after an attempt to truncate the log. */
  async ended(tenant: string, running: Iterable<string>): Promise<boolean> {
    const { pathOf, checkpoint } = this.#options;
    const path = pathOf(tenant);
    if (logBytes(path) > (this.#bytesMax.get(path) ?? LOG_BYTES_MAX)) this.#held.add(path);
    if (!this.#held.has(path) || Iterator.from(running).some((other) => pathOf(other) === path)) return false;
    await checkpoint(tenant).catch(() => {});
    const left = logBytes(path);
    if (left > LOG_BYTES_MAX) this.#bytesMax.set(path, left + LOG_BYTES_MAX);
    else this.#bytesMax.delete(path);
    this.#held.delete(path);
    return true;
  }
}
