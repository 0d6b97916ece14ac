/**
 * Hands mail to the runs it is for.
 *
 * I1  A mail stays in the store until the commit of what it causes deletes it, so handing it over may be repeated.
 * I2  Mail written by this process is handed over from memory; the store is read after a start, after another
 *     process wrote some, and after a run was lost.
 */
import type { Entry, RunKey, Store, Write } from '@gantry/store';
import type { Logger } from 'pino';
import type { CommitPipeline } from './commit-pipeline.ts';
import { isMail, MAIL } from './mail.ts';
import { OwnedElsewhereError, type RunActors } from './run-actors.ts';

const BATCH = 1_000;
const MORE_MS = 1_000;
/** Younger mail is on its way through the process that wrote it. */
const LEFT_BEHIND_MS = 2_000;

export class Mailbox {
  readonly #entries: Store['entries'];
  readonly #actors: RunActors;
  readonly #pipeline: CommitPipeline;
  readonly #now: () => number;
  readonly #log: Logger;
  #more: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(options: {
    entries: Store['entries'];
    actors: RunActors;
    pipeline: CommitPipeline;
    now: () => number;
    log: Logger;
  }) {
    this.#entries = options.entries;
    this.#actors = options.actors;
    this.#pipeline = options.pipeline;
    this.#now = options.now;
    this.#log = options.log;
  }

  /** Mail among writes that are on disk. */
  post(writes: readonly Write[]): void {
    for (const write of writes) if (isMail(write)) void this.handOver({ ...write.entry, version: 1 });
  }

  /** Another process wrote mail: for runs in memory here it is for us; the writer delivers to idle runs. */
  async collectOwn(): Promise<void> {
    const found = await this.#entries.due(MAIL, this.#now(), BATCH);
    const own = found.filter(({ tenant, ref }) => this.#actors.get({ tenant, runId: ref ?? '' }));
    await Promise.all(own.map((mail) => this.handOver(mail)));
  }

  /** Mail that nobody took: its writer died, or the run's owner did. */
  async sweep(olderThanMs = LEFT_BEHIND_MS): Promise<void> {
    const found = await this.#entries.due(MAIL, this.#now() - olderThanMs, BATCH);
    await Promise.all(found.map((mail) => this.handOver(mail)));
    if (found.length === BATCH) this.#sweepSoon();
  }

  stop(): void {
    clearTimeout(this.#more);
    this.#stopped = true;
  }

  #sweepSoon(): void {
    if (this.#stopped) return;
    clearTimeout(this.#more);
    this.#more = setTimeout(
      () => this.sweep(0).catch((error) => this.#log.warn({ err: error }, 'mail could not be read')),
      MORE_MS,
    );
  }

  /** Mail for one run, after it came into memory again. */
  async collect({ tenant, runId }: RunKey): Promise<void> {
    const found = await this.#entries.list(MAIL, tenant, { ref: runId, oldestFirst: true, limit: BATCH });
    for (const mail of found) await this.handOver(mail);
  }

  /** To the run's actor, unless another process works on the run. May be repeated (I1). */
  async handOver(mail: Entry): Promise<void> {
    const key = { tenant: mail.tenant, runId: mail.ref ?? '' };
    try {
      const found = await this.#actors.use(key, (actor) => {
        actor.receive(mail);
        return true;
      });
      if (!found) await this.#return(mail);
    } catch (error) {
      if (error instanceof OwnedElsewhereError) return;
      this.#log.warn({ runId: key.runId, mailId: mail.id, err: error }, 'mail could not be handed over');
      this.#actors.readAgain(key, error);
    }
  }

  /** The run is gone, past its retention: nobody will ever read this. */
  async #return({ kind, tenant, id, version }: Entry): Promise<void> {
    await this.#pipeline.commit([
      { kind: 'deleteEntry', key: { kind, tenant, id }, expectedVersion: version },
    ]);
  }
}
