/**
 * Processes records of one kind when they are due. One timer runs for the earliest of them, re-armed by due times
 * that this process notes and by commits of other processes; nothing polls.
 *
 * I1  One pass at a time: entries that become due meanwhile are left to the next pass.
 * I2  An entry that could not be processed stays due and is tried again after a delay, never immediately. It delays
 *     no other entry.
 */
import { fromEntry, type RecordKind, type Stored } from '@gantry/resources';
import type { CommitGroup, Entry, Store } from '@gantry/store';
import type { Logger } from 'pino';
import type { Clock } from './clock.ts';
import { WakeClock } from './wake-clock.ts';

const BATCH = 64;
const RETRY_MS = 1_000;

export interface DueClockOptions<R extends object> {
  readonly kind: RecordKind<R>;
  readonly store: Pick<Store, 'entries' | 'watch'>;
  readonly clock?: Clock;
  readonly now: () => number;
  readonly log: Logger;
  /** Moves the record's due time, or removes it; when it throws, the record is tried again. */
  readonly onDue: (stored: Stored<R>, entry: Entry) => Promise<unknown>;
}

export class DueClock<R extends object> {
  readonly #options: DueClockOptions<R>;
  readonly #kind: string;
  readonly #clock: WakeClock;
  #pass: Promise<number | null> | undefined;
  #stopWatching: (() => Promise<void>) | undefined;
  #stopped = false;

  constructor(options: DueClockOptions<R>) {
    this.#options = options;
    this.#kind = options.kind.kind;
    this.#clock = new WakeClock(options.now, () => this.#work(), options.clock);
  }

  async start(): Promise<void> {
    this.#stopWatching = await this.#options.store.watch((change) => {
      if (change.missed || change.kinds.includes(this.#kind)) void this.#arm();
    });
    await this.#arm();
  }

  /** A committed entry of this kind is due at `at`. */
  note(at: number | null): void {
    if (at !== null) this.#clock.note(at);
  }

  /** Notes the due times among writes that this process has committed. */
  committed(group: CommitGroup): void {
    for (const write of group)
      if (write.kind === 'putEntry' && write.entry.kind === this.#kind) this.note(write.entry.dueAt);
  }

  /** Processes everything that is due now. */
  async run(): Promise<void> {
    this.note(await this.#work());
  }

  /** Resolves when no pass is running. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#clock.stop();
    await this.#stopWatching?.();
    await this.#pass;
  }

  async #arm(): Promise<void> {
    const { store, now, log } = this.#options;
    const kind = this.#kind;
    try {
      this.note(await store.entries.nextDueAt(kind));
    } catch (error) {
      if (this.#stopped) return;
      log.warn({ err: error, kind }, 'the next due time could not be read; trying again');
      this.note(now() + RETRY_MS);
    }
  }

  /** I1. Returns the next due time. */
  async #work(): Promise<number | null> {
    while (this.#pass) await this.#pass;
    if (this.#stopped) return null;
    this.#pass = this.#workOnDue();
    try {
      return await this.#pass;
    } finally {
      this.#pass = undefined;
    }
  }

  async #workOnDue(): Promise<number | null> {
    const { store, now, log } = this.#options;
    const kind = this.#kind;
    const seen = new Set<string>();
    try {
      for (let after: Entry | undefined, done: boolean[] = []; !this.#stopped; ) {
        const due = await store.entries.due(kind, now(), BATCH, after);
        done.push(...(await Promise.all(due.map((entry) => this.#workOn(entry, seen)))));
        after = due.length < BATCH ? undefined : due.at(-1);
        if (after) continue;
        // Processed entries may be due again: start over until none was processed
        if (!done.includes(true))
          return done.length === 0 ? await store.entries.nextDueAt(kind) : now() + RETRY_MS;
        done = [];
      }
      return null;
    } catch (error) {
      if (this.#stopped) return null;
      log.warn({ err: error, kind }, 'what is due could not be read; trying again');
      return now() + RETRY_MS;
    }
  }

  /** I2. An entry that is read again in the same version was not moved, and would be read again forever. */
  async #workOn(entry: Entry, seen: Set<string>): Promise<boolean> {
    const { onDue, log } = this.#options;
    const kind = this.#kind;
    const id = `${entry.tenant}\0${entry.id}\0${entry.version}`;
    if (seen.has(id)) return false;
    seen.add(id);
    try {
      await onDue(fromEntry(this.#options.kind, entry), entry);
      return true;
    } catch (error) {
      log.warn({ err: error, kind, id: entry.id }, 'a due entry could not be worked on; trying again');
      return false;
    }
  }
}
