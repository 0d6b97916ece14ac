/**
 * Delivers mail to runs.
 *
 * I1  A mail stays in the store until the commit of its effect deletes it, so delivery may be repeated.
 * I2  Mail written by this process is delivered from memory; the store is read after a start, after another
 *     process wrote some, and after a run was lost.
 * I3  Mail that a paused run keeps has no due time, so it is not read repeatedly. The commit that ends the pause
 *     writes a request to collect it, which stays until all of it is due again.
 */
import {
  type CommitPipeline,
  type Entry,
  type RunKey,
  type Store,
  storedEntry,
  type Write,
} from '@gantry/store';
import type { Logger } from 'pino';
import { isCollect, isMail, MAIL, mailDueAt } from './mail.ts';
import { onceAtATime } from './once-at-a-time.ts';
import type { RunActors } from './run-actors.ts';
import { OwnedElsewhereError } from './run-errors.ts';
import { deletion } from './run-task.ts';

const PAGE = 500;
/** Younger mail is still being delivered by the process that wrote it. */
const LEFT_BEHIND_MS = 2_000;

export class Mailbox {
  readonly #entries: Store['entries'];
  readonly #actors: RunActors;
  readonly #pipeline: CommitPipeline;
  readonly #now: () => number;
  readonly #log: Logger;
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

  /** Delivers the mail among committed writes. */
  post(writes: readonly Write[]): void {
    for (const write of writes) if (isMail(write)) void this.handOver(storedEntry(write.entry, 1));
  }

  /** Delivers mail of other processes to runs in memory here; the writer delivers to idle runs. */
  readonly collectOwn = onceAtATime(() =>
    this.#eachDue(
      this.#now(),
      ({ tenant, ref }) => this.#actors.get({ tenant, runId: ref ?? '' }) !== undefined,
    ),
  );

  /** Delivers mail that was left behind because its writer, or the owner of the run, died. */
  sweep(olderThanMs = LEFT_BEHIND_MS): Promise<void> {
    return this.#eachDue(this.#now() - olderThanMs, () => true);
  }

  stop(): void {
    this.#stopped = true;
  }

  async #eachDue(now: number, isWanted: (mail: Entry) => boolean): Promise<void> {
    for (let after: Entry | undefined; !this.#stopped; ) {
      const page = await this.#entries.due(MAIL, now, PAGE, after);
      await Promise.all(page.filter(isWanted).map((mail) => this.handOver(mail)));
      if (page.length < PAGE) return;
      after = page.at(-1);
    }
  }

  /** Delivers the mail of one run after it was loaded again, including kept mail. */
  collect(key: RunKey): Promise<void> {
    return this.#eachFor(key, async (page) => {
      for (const mail of page) await this.handOver(mail);
    });
  }

  async #eachFor({ tenant, runId: ref }: RunKey, take: (page: Entry[]) => Promise<void>): Promise<void> {
    for (let afterId = ''; !this.#stopped; ) {
      const page = await this.#entries.list(MAIL, tenant, { ref, oldestFirst: true, afterId, limit: PAGE });
      await take(page);
      if (page.length < PAGE) return;
      afterId = page.at(-1)!.id;
    }
  }

  /** Delivers to the run's actor, unless another process works on the run. May be repeated (I1). */
  async handOver(mail: Entry): Promise<void> {
    const key = { tenant: mail.tenant, runId: mail.ref ?? '' };
    try {
      if (isCollect(mail)) return await this.#collectKept(key, mail);
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

  /** I3. Mail that another process has changed meanwhile is left to that process. */
  async #collectKept(key: RunKey, request: Entry): Promise<void> {
    await this.#eachFor(key, async (page) => {
      const writes = page.filter(({ dueAt }) => dueAt === null).map((mail) => mailDueAt(mail, this.#now()));
      const results = await Promise.all(writes.map((write) => this.#pipeline.commit([write])));
      for (const [i, { entry, expectedVersion }] of writes.entries())
        if (results[i]?.won) await this.handOver(storedEntry(entry, (expectedVersion ?? 0) + 1));
    });
    await this.#return(request);
  }

  /** Deletes mail that is no longer needed: its run was deleted, or it was a request to collect. */
  async #return(mail: Entry): Promise<void> {
    await this.#pipeline.commit([deletion(mail)]);
  }
}
