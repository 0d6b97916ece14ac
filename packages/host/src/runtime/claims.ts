/** How this process acquires runs: due runs, and orphans of processes that ended. */
import type { Leases, RunKey } from '@gantry/store';
import type { Logger } from 'pino';
import type { Clock } from './clock.ts';
import type { RunActors } from './run-actors.ts';
import { WakeClock } from './wake-clock.ts';

/** How many runs are claimed at once. */
const CLAIM_BATCH = 256;

export interface LeaseTerms {
  readonly ttlMs: number;
  /** Null where no other process can share the store: the lease then needs no renewal. */
  readonly renewEveryMs: number | null;
}

export interface ClaimsOptions {
  readonly epoch: number;
  readonly leases: Leases;
  readonly terms: LeaseTerms;
  readonly actors: RunActors;
  readonly inflightCap: number;
  readonly now: () => number;
  readonly clock: Clock;
  readonly log: Logger;
  /** Other processes may own all runs of this process now. */
  readonly onLeaseLost: () => void;
  /** Called with runs of processes that ended, before they continue here. */
  readonly onTakeOver: (keys: readonly RunKey[]) => void;
  /** Called after runs were taken over: the store may hold mail for them, and mail that a dead process wrote. */
  readonly sweepMail: (olderThanMs?: number) => Promise<void>;
}

export class Claims {
  readonly clock: WakeClock;
  readonly #options: ClaimsOptions;
  #cancelRenewal: (() => void) | undefined;
  #stopped = false;

  constructor(options: ClaimsOptions) {
    this.#options = options;
    this.clock = new WakeClock(options.now, () => this.#takeDue(), options.clock);
  }

  /** Begins recovery and arms the clock. */
  async start(): Promise<void> {
    const { terms, log } = this.#options;
    void this.#recover(0).catch((error) => log.error({ err: error }, 'recovery stopped'));
    await this.#armClock();
    if (terms.renewEveryMs !== null) this.#renewEvery(terms.renewEveryMs);
  }

  stop(): void {
    this.#stopped = true;
    this.clock.stop();
    this.#cancelRenewal?.();
  }

  /** The next renewal does not wait for a slow one, since the lease expires meanwhile. */
  #renewEvery(ms: number): void {
    this.#cancelRenewal = this.#options.clock.after(ms, () => {
      this.#renewEvery(ms);
      void this.#renew();
    });
  }

  async #armClock(): Promise<void> {
    const next = await this.#options.leases.nextWakeAt();
    if (next !== null) this.clock.note(next);
  }

  async #takeDue(): Promise<number | null> {
    const { leases, epoch, now } = this.#options;
    try {
      await this.#takeAll(() => leases.claimDue(epoch, now(), CLAIM_BATCH));
      return this.#stopped ? null : await leases.nextWakeAt();
    } catch (error) {
      this.#options.log.warn({ err: error }, 'due runs could not be claimed; trying again');
      return now() + 1_000;
    }
  }

  /** Adopts runs that a commit or a claim gave to this process, but whose answer was lost. */
  async #adoptOwned(): Promise<void> {
    const { leases, epoch, actors } = this.#options;
    for (let after = ''; !this.#stopped; ) {
      const page = await leases.owned(epoch, CLAIM_BATCH, after);
      await actors.adoptOwned(page);
      if (page.length < CLAIM_BATCH) return;
      after = page.at(-1)!.runId;
    }
  }

  async #recover(mailOlderThanMs?: number): Promise<void> {
    await this.#takeOrphans();
    await this.#options.sweepMail(mailOlderThanMs);
  }

  #takeOrphans(): Promise<void> {
    const { leases, epoch, now, log, onTakeOver } = this.#options;
    return this.#takeAll(async () => {
      const orphans = await leases.claimOrphans(epoch, now(), CLAIM_BATCH);
      for (const { tenant, runId } of orphans)
        log.info({ tenant, runId, code: 'run_taken_over' }, 'taking over a run of an earlier process');
      onTakeOver(orphans);
      return orphans;
    });
  }

  /** Claims batch after batch, each when fewer runs than the cap are in memory. */
  async #takeAll(claim: () => Promise<RunKey[]>): Promise<void> {
    const { actors, inflightCap } = this.#options;
    for (;;) {
      await actors.below(inflightCap);
      if (this.#stopped) return;
      const keys = await claim();
      await actors.adopt(keys);
      if (keys.length < CLAIM_BATCH) return;
    }
  }

  /** Processes that share a database also look for runs of ended processes, and for the next due time. */
  async #renew(): Promise<void> {
    const { leases, epoch, now, terms, log, onLeaseLost } = this.#options;
    try {
      const isRenewed = await leases.renew(epoch, now(), terms.ttlMs);
      // A stop releases the lease, possibly before a renewal in progress
      if (this.#stopped) return;
      if (!isRenewed) return onLeaseLost();
      await this.#adoptOwned();
      await this.#recover();
      await this.#armClock();
    } catch (error) {
      log.warn({ err: error }, 'the lease could not be renewed');
    }
  }
}
