/**
 * Reads that look through as much as a tenant has stored, in processes of their own.
 *
 * I1  A scan ends: by its answer, by its time, or with its process. None fails with another.
 * I2  A tenant never has all processes, and a second one only while nobody else waits. Tenants take turns: who asks
 *     much waits behind nobody but itself.
 * I3  A tenant has a share of the places to wait, so that one alone cannot fill them.
 * I4  The log of a file stays small, however scans overlap: `scans-log.ts`.
 */
import type { OpenwopError } from '@gantry/protocol';
import { readAnswer, unavailable, WAITING_MAX } from './answers.ts';
import { factsOf, type OpenFile } from './database-files.ts';
import { type Ended, ScanChild } from './scan-child.ts';
import { ScansLog } from './scans-log.ts';
import { TenantQueue } from './tenant-queue.ts';
import type { Request } from './wire.ts';

const PROCESSES_MAX = 3;
const PROCESSES_BY_TENANT_MAX = 2;
const WAITING_BY_TENANT_MAX = 1_000;
const WAIT_MS_MAX = 30_000;

export interface ScansOptions {
  readonly file: OpenFile;
  readonly scanMsMax: number;
  /** What a scan that took too long is refused with. */
  late(): OpenwopError;
  /** Of the file that a tenant's scans read, by its writer. */
  checkpoint(tenant: string): Promise<unknown>;
}

interface Waiting {
  readonly tenant: string;
  readonly request: Request;
  readonly since: number;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

export class Scans {
  readonly #options: ScansOptions;
  readonly #children = new Set<ScanChild>();
  readonly #waiting = new TenantQueue<Waiting>({ shareMax: WAITING_BY_TENANT_MAX });
  /** How many scans of a tenant are under way. */
  readonly #running = new Map<string, number>();
  readonly #log: ScansLog;
  #lastId = 0;
  #isClosed = false;

  constructor(options: ScansOptions) {
    this.#options = options;
    const { file, checkpoint } = options;
    this.#log = new ScansLog({ pathOf: (tenant) => factsOf(file, tenant).path, checkpoint });
  }

  request(tenant: string, asked: Omit<Request, 'id'>): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(unavailable('The host is stopping.'));
    if (this.#waiting.size >= WAITING_MAX) return Promise.reject(unavailable('Too many queries wait.'));
    return new Promise((resolve, reject) => {
      const request = { ...asked, id: ++this.#lastId };
      const waiting = { tenant, request, since: performance.now(), resolve, reject };
      if (this.#waiting.push(tenant, waiting)) this.#pump();
      else reject(unavailable(`${WAITING_BY_TENANT_MAX} queries of this tenant wait already.`));
    });
  }

  /** Scans under way are ended: they change nothing. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { reject } of this.#waiting.takeWhile(() => true))
      reject(unavailable('The host is stopping.'));
    await Promise.all(this.#children.values().map((child) => child.end()));
  }

  #pump(): void {
    const oldest = performance.now() - WAIT_MS_MAX;
    for (const { reject } of this.#waiting.takeWhile(({ since }) => since < oldest))
      reject(unavailable('Other queries kept this one waiting for too long.'));
    if (this.#isClosed) return;
    for (let idle = this.#idle(); idle; idle = this.#idle()) {
      const next = this.#next();
      if (!next) return;
      void this.#run(idle, next);
    }
    if (this.#waiting.has((tenant) => this.#mayHave(tenant)) && this.#isSlow()) this.#start();
  }

  #runs(tenant: string): number {
    return this.#running.get(tenant) ?? 0;
  }

  #mayHave(tenant: string): boolean {
    return this.#runs(tenant) < PROCESSES_BY_TENANT_MAX && this.#log.mayBegin(tenant);
  }

  /** I2. */
  #next(): Waiting | undefined {
    return (
      this.#waiting.next((tenant) => this.#runs(tenant) === 0 && this.#mayHave(tenant)) ??
      this.#waiting.next((tenant) => this.#mayHave(tenant))
    );
  }

  #idle(): ScanChild | undefined {
    return this.#children.values().find(({ isIdle }) => isIdle);
  }

  /** Whether who waits is better served by another process. Until it is there, they wait for any that ends its scan. */
  #isSlow(): boolean {
    return this.#children.size < PROCESSES_MAX && this.#children.values().every(({ isSlow }) => isSlow);
  }

  #start(): void {
    const { file, scanMsMax } = this.#options;
    const pump = (): void => this.#pump();
    const onGone = (unopened: Ended | null): void => {
      this.#children.delete(child);
      // Each that cannot be opened is told to one who waits, else they would start one after the other for ever
      const hears = unopened && this.#next();
      if (hears) this.#settle(hears, unopened);
      pump();
    };
    const child = new ScanChild({ file, scanMsMax, onOpen: pump, onSlow: pump, onGone });
    this.#children.add(child);
  }

  async #run(child: ScanChild, waiting: Waiting): Promise<void> {
    this.#count(waiting.tenant, 1);
    const ended = await child.scan(waiting.request);
    this.#count(waiting.tenant, -1);
    const emptied = this.#log.ended(waiting.tenant, this.#running.keys());
    this.#pump();
    this.#settle(waiting, ended);
    if (await emptied) this.#pump();
  }

  #settle({ request, resolve, reject }: Waiting, ended: Ended): void {
    try {
      resolve(this.#valueOf(request, ended));
    } catch (error) {
      reject(error);
    }
  }

  #count(tenant: string, change: number): void {
    const many = this.#runs(tenant) + change;
    if (many === 0) this.#running.delete(tenant);
    else this.#running.set(tenant, many);
  }

  #valueOf(request: Request, ended: Ended): unknown {
    if (ended.kind === 'late') throw this.#options.late();
    if (ended.kind !== 'lost') return readAnswer(request, ended);
    throw unavailable(
      this.#isClosed ? 'The host is stopping.' : 'The process that reads the database ended.',
    );
  }
}
